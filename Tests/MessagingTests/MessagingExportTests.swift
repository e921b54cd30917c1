import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// What a person's export has of messages, statuses and pictures.
@Suite("Export of messages, statuses and pictures", .timeLimit(.minutes(10)))
struct MessagingExportTests {
    private struct Export {
        var files: [String: [JSONValue]] = [:]
        var attached: [String: [UInt8]] = [:]
    }

    /// All pages of an export. A file's pages follow each other.
    private static func export(_ account: AccountName, of messaging: RunningMessaging) async throws -> Export {
        var export = Export()
        var (last, after): ([String], String?) = ([], nil)
        repeat {
            let (page, bytes) = try await messaging.client.client.read(
                ExportPerson(account, after: after), timeout: .seconds(60))
            for (name, documents) in page.files {
                #expect(export.files[name] == nil || last.contains(name), "\(name) was complete")
                export.files[name, default: []] += documents
            }
            #expect((page.attached == nil) == (bytes == nil))
            if let name = page.attached, let bytes { export.attached[name] = [UInt8](bytes) }
            last = Array(page.files.keys)
            after = page.next
        } while after != nil
        return export
    }

    @Test(
        "It has one's messages, conversations, status, reports and pictures, and nothing of others",
        arguments: StoreKind.ofRules)
    func files(kind: StoreKind) async throws {
        let people = PeopleDouble("Ann", "bob", "cleo")
        try await RunningMessaging.with(
            kind, settings: ["MSI_MESSAGING_PER_MINUTE": "600"], clock: TestClock(), people: people
        ) { messaging in
            let (ann, bob) = (messaging.person("Ann"), messaging.person("bob"))
            // More than a page. On MongoDB so many take the tests' server long.
            let count = kind == .sqlite ? 101 : 5
            for number in 0..<count { _ = try await ann.send("\(number)", to: "bob") }
            let received = try await bob.send("an answer", to: "Ann")
            _ = try await bob.send("to cleo", to: "cleo")
            try await ann.setStatus("here")
            try await bob.setStatus("there")
            let waiting = try await ann.upload(SamplePNG.file(number: 1))
            try await ann.request(SetProfilePicture(try await ann.upload(SamplePNG.file(number: 2))))
            _ = try await bob.upload(SamplePNG.file(number: 3))
            let sent = try await ann.upload(SamplePNG.file(number: 4))
            try await ann.request(SendDirectMessage(DirectMessageDraft(to: "bob", picture: sent)))
            let report = ReportDraft(message: received.id, account: "bob", text: "an answer", reason: "it is short")
            try await ann.request(ReportMessage(report))
            try await ann.request(ChooseMessaging(MessagingChoices(readMarks: false)))

            let export = try await Self.export("ann", of: messaging)
            #expect(
                Set(export.files.keys) == [
                    "messages.json", "conversations.json", "choices.json", "status.json", "digests.json", "reports.json",
                ])
            let messages = try #require(export.files["messages.json"])
            #expect(messages.count == count + 2 && messages[0]["text"] == "an answer" && messages[0]["from"] == "bob")
            #expect(messages.count { $0["from"] == "Ann" } == count + 1 && messages.count { $0["picture"] != nil } == 1)
            #expect(export.files["conversations.json"]?.map { $0["account"] } == ["bob"])
            #expect(export.files["choices.json"] == [["read_marks": false]])
            #expect(export.files["status.json"]?.map { $0["text"] } == ["here"])
            let digests = try #require(export.files["digests.json"])
            #expect(digests.count == count + 2 && digests.allSatisfy { $0["digest"]?.string?.utf8.count == 64 })
            #expect(export.files["reports.json"]?.map { $0["reason"] } == ["it is short"])
            let pictures = [1, 2, 4].map { SamplePNG.file(number: $0) }
            #expect(Set(export.attached.values) == Set(pictures))
            #expect(export.attached["pictures/\(waiting).png"] == pictures[0])
            let text = export.files.values.flatMap(\.self).map(\.text).joined()
            for other in ["cleo", "there"] { #expect(!text.contains(other), "\(other)") }

            let empty = try await Self.export("stranger", of: messaging)
            #expect(empty.files.count == 6 && empty.files.values.allSatisfy(\.isEmpty) && empty.attached.isEmpty)
        }
    }

    @Test(
        "Only the next of an earlier page is taken",
        arguments: ["", "sent", "cubes-", "sent-!", "-", "sent-AAAA", "pictures-!"])
    func wrong(after: String) async throws {
        try await RunningMessaging.with { messaging in
            let failure = await messaging.client.failure(of: ExportPerson("ann", after: after))
            #expect(failure?.status == .invalid && failure?.field == "after")
        }
    }
}
