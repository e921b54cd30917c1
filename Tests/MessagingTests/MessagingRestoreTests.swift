import Base
import Bus
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import Store
import TestSupport
import Testing

@testable import Messaging

/// What the start makes of data that `msi restore` has put back.
@Suite("Messages after a restore", .timeLimit(.minutes(10)))
struct MessagingRestoreTests {
    private static let database = "/messaging.sqlite"

    /// Marks the data of a store that nobody uses, as `msi restore` does.
    private static func mark(in folder: String, at time: UnixMilliseconds) async throws {
        for (collection, field) in [
            (MessagingHold.conversations, MessagingHold.conversationField), (MessagingHold.statuses, MessagingHold.statusField),
            (MessagingHold.pushes, MessagingHold.plannedField),
        ] {
            try await StoredDocuments.set(
                MessagingHold.field, to: time.rawValue, inAllWith: field, of: collection, in: folder)
        }
    }

    /// Leaves a folder as after the restore of a backup, since which the first of its two messages was read and removed.
    private static func restore(
        in folder: String, _ clock: TestClock, _ people: PeopleDouble
    ) async throws -> (first: DirectMessage, second: DirectMessage) {
        // Without a message log the pushes stay in the queue.
        let (first, second) = try await RunningMessaging.with(in: folder, clock: clock, people: people) { messaging in
            let ann = messaging.person("ann")
            try await ann.setStatus("here")
            return (try await ann.send("first", to: "bob"), try await ann.send("second", to: "bob"))
        }
        let kept = folder + "/kept.sqlite"
        try FileManager.default.copyItem(atPath: folder + database, toPath: kept)
        try await RunningMessaging.with(in: folder, clock: clock, people: people) { messaging in
            let bob = messaging.person("bob")
            try await bob.receive()
            try await bob.read(first)
            try await messaging.withStore { store in
                try await eventually("the removal") { try await store.texts() == ["second"] }
            }
        }
        try FileManager.default.removeItem(atPath: folder + database)
        try FileManager.default.moveItem(atPath: kept, toPath: folder + database)
        clock.pass(.seconds(60))
        try await mark(in: folder, at: clock.now)
        return (first, second)
    }

    @Test("What was removed since the backup is removed again, other messages are there, and nobody is told")
    func restored() async throws {
        let (clock, messageLog, people) = (TestClock(), OutboxDouble(), PeopleDouble("ann", "bob"))
        try await withTemporaryFolder { folder in
            let (first, second) = try await Self.restore(in: folder, clock, people)
            try await messageLog.run(at: "ipc://\(folder)/run/message-log.sock") {
                try await RunningMessaging.with(in: folder, clock: clock, people: people) { messaging in
                    let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
                    // From the first answer on.
                    let page = try await bob.conversation(with: "ann")
                    #expect(page.messages.map(\.id) == [second.id])
                    #expect(page.conversation.removed == first.number && page.conversation.unread == 1)
                    #expect(try await ann.ownStatus() == nil)
                    try await messaging.withStore { store in
                        let conversation = try await store.get("ann bob", from: MessagingStore.conversations)?.document
                        #expect(conversation?.restored == nil)
                        #expect(try await store.get("bob", from: MessagingStore.persons)?.waiting == 1)
                    }
                    // A push of today goes out, and takes the place of no earlier one.
                    let third = try await ann.send("third", to: "bob")
                    #expect(third.number > second.number)
                    try await eventually("today's push") { !messageLog.taken.isEmpty }
                    #expect(try await bob.news(after: 0).messages.map(\.id) == [second.id, third.id])
                }
            }
            #expect(messageLog.taken.count == 1 && messageLog.taken.allSatisfy { $0.held == nil })
        }
    }

    @Test("Until the log of removed messages can be read, nothing that may have one of them is answered")
    func unreadableLog() async throws {
        let (clock, people) = (TestClock(), PeopleDouble("ann", "bob"))
        try await withTemporaryFolder { folder in
            let (first, second) = try await Self.restore(in: folder, clock, people)
            let (log, kept) = (folder + "/" + MessagingFiles.removed, folder + "/kept.log")
            try FileManager.default.moveItem(atPath: log, toPath: kept)
            // A folder cannot be read as a file.
            try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: folder)
            try await RunningMessaging.with(in: folder, clock: clock, people: people) { messaging in
                let bob = messaging.person("bob")
                func answers() async -> [ReplyStatus?] {
                    [
                        await bob.failure(of: ReadMessageNews(on: bob.device, after: 0, limit: 9))?.status,
                        await bob.failure(of: ListConversation(with: "ann", limit: 9))?.status,
                        await bob.failure(of: ReadPicture(of: .message, "\(first.id)"))?.status,
                        await messaging.client.failure(of: ExportPerson("bob"))?.status,
                    ]
                }
                #expect(await answers().allSatisfy { $0 == .unavailable })
                #expect(try await bob.ownStatus() == nil)
                // At no time is there no log, which would be an empty one.
                #expect(rename(kept, log) == 0)
                try await eventually("the log is read") { await answers() == [nil, nil, .notFound, nil] }
                #expect(try await bob.news().messages.map(\.id) == [second.id])
            }
        }
    }

    @Test("With several machines each looks at its start for a day, by its log", arguments: StoreKind.allCases)
    func machines(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind, isAlone: false) { harness in
            let sent = try await harness.send("of a backup", from: "ann", to: "bob")
            _ = try await harness.send("later", from: "ann", to: "bob")
            _ = try await harness.send("back", from: "bob", to: "ann")
            try await harness.store.update("ann bob", in: MessagingStore.conversations) { $0.restored = harness.clock.now }
            try await eventually("the look") { await harness.removals.begin() }
            #expect(try await harness.texts().count == 3)
            // The log of another machine.
            let place = try await harness.digests.digest().place("ann bob", to: "bob")
            let line = RemovedMessages.Line(place: place, number: sent.number)
            try await harness.log.append([line], at: harness.clock.now)
            try await eventually("the look") { await harness.removals.begin() }
            #expect(try await harness.texts() == ["later", "back"])
            let conversation = try #require(try await harness.conversation("ann bob"))
            #expect(conversation.restored != nil && conversation["bob"].removed == sent.number)
            #expect(conversation["bob"].readCount == 1 && conversation["ann"].removed == 0)
            harness.clock.pass(.seconds(86_400))
            try await eventually("the look") { await harness.removals.begin() }
            #expect(try await harness.conversation("ann bob")?.restored == nil)
            #expect(try await harness.texts() == ["later", "back"])
        }
    }
}
