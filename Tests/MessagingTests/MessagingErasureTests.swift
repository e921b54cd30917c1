import Base
import Bus
import FoundationEssentials
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// The erasure of persons in the messaging service.
@Suite("Erased persons in messages, statuses and pictures", .timeLimit(.minutes(10)))
struct MessagingErasureTests {
    private static let erased: AccountName = "Erased.Student"
    private static let text = "a lighthouse"

    private static func counts(_ reply: ErasePerson.Reply) -> [String: Int] {
        Dictionary(reply.removed.map { ($0.what, $0.count) }) { $0 + $1 }
    }

    private static func erase(_ account: AccountName = erased, in messaging: RunningMessaging) async throws -> [String: Int] {
        let reply = try await whenAvailable { try await messaging.client.request(ErasePerson(account)) }
        #expect(reply.stays.count == 4)
        return counts(reply)
    }

    /// The collections with a document that names an account, in lower case.
    private static func collections(with account: String, in store: Storage) async throws -> [String] {
        try await store.snapshot { transaction in
            var found: [String] = []
            func look<Document>(_ collection: Collection<Document>) throws {
                let all = try transaction.scan(collection, limit: 10_000).documents.map(\.document)
                let texts = try all.map { String(decoding: try JSONCoder.encode($0), as: UTF8.self).lowercased() }
                if texts.contains(where: { $0.contains(account) }) { found.append(collection.name) }
            }
            try look(MessagingStore.messages)
            try look(MessagingStore.conversations)
            try look(MessagingStore.digests)
            try look(MessagingStore.persons)
            try look(MessagingStore.devices)
            try look(MessagingStore.statuses)
            try look(MessagingStore.views)
            try look(MessagingStore.uses)
            try look(MessagingStore.reports)
            try look(MessagingStore.queuedPushes)
            return found
        }
    }

    @Test("A person is gone from every collection and file, and comes back by no token", arguments: StoreKind.allCases)
    func person(kind: StoreKind) async throws {
        let people = PeopleDouble("bob", "cleo", Self.erased)
        try await RunningMessaging.with(kind, clock: TestClock(), people: people) { messaging in
            let (bob, cleo, person) = (messaging.person("bob"), messaging.person("cleo"), messaging.person(Self.erased))
            _ = try await bob.send(Self.text, to: Self.erased)
            let rude = try await person.send(Self.text, to: "bob")
            _ = try await person.send("more of \(Self.text)", to: "cleo")
            let upload = try await person.upload(SamplePNG.file(number: 1))
            let draft = DirectMessageDraft(to: "bob", picture: upload)
            try await person.request(SendDirectMessage(draft))
            _ = try await person.upload(SamplePNG.file(number: 2))
            let profile = try await person.upload(SamplePNG.file(number: 3))
            try await person.request(SetProfilePicture(profile))
            let status = try await person.setStatus(picture: try await person.upload(SamplePNG.file(number: 4)))
            try await bob.see(status.id)
            try await person.see(try await cleo.setStatus("of cleo").id)
            try await person.receive()
            let others = try await bob.send("to cleo", to: "cleo")
            let about = ReportDraft(message: rude.id, account: Self.erased, text: Self.text)
            let reported = try await bob.request(ReportMessage(about)).id
            let evidence = try await person.upload(SamplePNG.file(number: 5), forReport: true)
            let by = ReportDraft(message: ObjectID(), account: "cleo", picture: evidence)
            let own = try await person.request(ReportMessage(by)).id

            let counts = try await Self.erase(in: messaging)
            #expect(counts["messages"] == 4 && counts["conversations"] == 2 && counts["digests"] == 4, "\(counts)")
            #expect(counts["statuses"] == 1 && counts["reports"] == 1 && counts["pushes"] == 1, "\(counts)")
            // An upload, that of the profile, and that of the report, which stays.
            #expect(counts["pictures"] == 3, "\(counts)")
            try await messaging.withStore { store in
                #expect(try await Self.collections(with: Self.erased.key, in: store).isEmpty)
                #expect(try await store.texts() == ["to cleo"])
                #expect(try await store.get("bob", from: MessagingStore.persons)?.waiting == 0)
                #expect(try await store.get("cleo", from: MessagingStore.persons)?.waiting == 1)
                let files = try await store.page(of: MessagingStore.pictures, limit: 10).documents.map(\.document)
                #expect(files.count == 1 && files.first?.metadata.uses == 1)
                #expect(try await store.get(reported, from: MessagingStore.reports) == nil)
                let kept = try await store.get(own, from: MessagingStore.reports)?.document
                #expect(kept?.reporter == nil && kept?.reporterName == nil && kept?.picture != nil)
            }
            if kind == .sqlite {
                for text in [Self.text, Self.erased.key, "\(Self.erased)"] {
                    #expect(try messagingFiles(in: messaging.folder, with: text).isEmpty, "\(text)")
                }
            }
            #expect(try await cleo.news().messages.map(\.id) == [others.id])

            // Nothing is left for another call, and nothing begins again.
            let again = try await Self.erase("erased.STUDENT", in: messaging)
            #expect(again.values.allSatisfy { $0 == 0 }, "\(again)")
            for failure in [
                await person.failure(of: SendDirectMessage(DirectMessageDraft(to: "bob", text: "x"))),
                await person.failure(of: ReadMessageNews(on: person.device, after: 0, limit: 10)),
                await person.failure(of: SetStatus(StatusDraft(text: "x"))), await person.failure(of: ReportMessage(about)),
                await person.failure(of: ChooseMessaging(MessagingChoices(readMarks: false))),
            ] {
                #expect(failure?.status == .unauthenticated, "\(failure?.description ?? "none")")
            }
            let toErased = SendDirectMessage(DirectMessageDraft(to: Self.erased, text: "x"))
            #expect(await bob.failure(of: toErased)?.status == .notFound)
            try await messaging.withStore { store async throws in
                #expect(try await Self.collections(with: Self.erased.key, in: store).isEmpty)
            }
        }
    }

    @Test("Many messages are removed page by page, and who writes at the same time leaves none", arguments: StoreKind.ofRules)
    func pages(kind: StoreKind) async throws {
        try await RunningMessaging.with(
            kind, settings: ["MSI_MESSAGING_PER_MINUTE": "6000"]
        ) { messaging in
            let bob = messaging.person("bob")
            let first = try await bob.send("0", to: Self.erased)
            try await messaging.withStore { store in
                let position = try await store.get(Self.erased.key, from: MessagingStore.persons)?.position ?? 0
                // One transaction removes 200.
                let messages = DirectMessageDocument.many(
                    250, from: "bob", to: Self.erased, behind: first, position: position)
                try await store.transaction { transaction in
                    try transaction.insert(all: messages, into: MessagingStore.messages)
                    try transaction.update(Self.erased.key, in: MessagingStore.persons) { person in
                        person.waiting = 251
                        person.position = position + 250
                    }
                    let id = ConversationDocument.id(of: "bob", and: Self.erased.key)
                    try transaction.update(id, in: MessagingStore.conversations) { $0.last = first.number + 250 }
                }
            }
            let writing = Task {
                var failure: CommandFailure?
                while failure?.status != .notFound {
                    failure = await bob.failure(of: SendDirectMessage(DirectMessageDraft(to: Self.erased, text: "again")))
                    try Task.checkCancellation()
                }
            }
            defer { writing.cancel() }
            let counts = try await Self.erase(in: messaging)
            #expect(counts["messages", default: 0] >= 251, "\(counts)")
            try await writing.value
            try await messaging.withStore { store async throws in
                #expect(try await store.texts().isEmpty)
                #expect(try await Self.collections(with: Self.erased.key, in: store).isEmpty)
            }
        }
    }
}
