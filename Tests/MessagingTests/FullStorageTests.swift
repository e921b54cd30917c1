import Base
import Schemas
import TestSupport
import Testing

@testable import Messaging

/// The service while only the reserve of its storage is left.
@Suite("Messages with a full storage", .timeLimit(.minutes(10)))
struct FullStorageTests {
    @Test(
        "No message, status or picture is added; all is still fetched, read, removed, reported and erased, and messages wait for two weeks",
        arguments: StoreKind.ofRules)
    func full(kind: StoreKind) async throws {
        let (database, clock) = (try await kind.newDatabaseURL(), TestClock())
        let people = PeopleDouble("ann", "bob", "cleo")
        let bytes = SamplePNG.file(number: 1, bytes: 20_000)
        try await withTemporaryFolder { folder in
            let sent = try await RunningMessaging.with(
                in: folder, database: database, clock: clock, people: people
            ) { messaging in
                let ann = messaging.person("ann")
                try await ann.setStatus("before")
                try await ann.send("unread", to: "cleo")
                let draft = DirectMessageDraft(to: "bob", picture: try await ann.upload(bytes))
                return try await ann.request(SendDirectMessage(draft))
            }
            try await RunningMessaging.with(
                in: folder, database: database, settings: ["MSI_MESSAGING_STORAGE_LIMIT": "1000"], clock: clock, people: people
            ) { messaging in
                let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
                let health = try await messaging.client.request(CheckHealth())
                #expect(health.parts["store"]?.status == .storageFull && health.parts["storage"]?.status == .storageFull)
                #expect(health.stores?.map(\.name) == ["messaging", "pictures"])
                for refusal in [
                    await ann.failure(of: SendDirectMessage(DirectMessageDraft(to: "bob", text: "hi"))),
                    await ann.failure(of: SendDirectMessage(DirectMessageDraft(to: "cleo", text: "hi"))),
                    await ann.failure(of: SetStatus(StatusDraft(text: "after"))),
                ] {
                    #expect(refusal?.status == .storageFull)
                }
                let refused = await #expect(throws: CommandFailure.self) { try await ann.upload(bytes) }
                #expect(refused?.status == .storageFull)
                let shown = try await bob.statuses().statuses
                #expect(shown.map(\.text) == ["before"])
                let news = try await bob.receive()
                #expect(news.messages == [sent])
                #expect(try await bob.picture(of: .message, sent.id) == bytes)
                let evidence = try await bob.upload(bytes, forReport: true)
                let report = ReportDraft(message: sent.id, account: "ann", picture: evidence)
                let verdict = try await bob.request(ReportMessage(report)).verdict
                #expect(verdict == .genuine)
                try await bob.request(ChooseMessaging(MessagingChoices(readMarks: false)))
                try await bob.read(sent)
                try await eventually("the removal") { try await bob.conversation(with: "ann").messages.isEmpty }
                try await ann.request(RemoveStatus())
                #expect(try await ann.ownStatus() == nil)
                let cleo = messaging.person("cleo")
                let waits = try await cleo.conversation(with: "ann").messages
                #expect(waits.map(\.text) == ["unread"])
                clock.pass(.seconds(14 * 86_400))
                try await eventually("the end of the wait") { try await cleo.conversation(with: "ann").messages.isEmpty }
                let erased = try await whenAvailable { try await messaging.client.request(ErasePerson("ann")) }
                #expect(erased.removed.contains { $0.what == "reports" && $0.count == 1 })
            }
        }
    }
}
