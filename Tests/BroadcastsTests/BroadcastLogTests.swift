import FCM
import Base
import Store
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Broadcasts

/// The log of broadcasts, on both databases.
@Suite("Broadcast log", .timeLimit(.minutes(10)))
struct BroadcastLogTests {
    private static let ann = AuditAuthor(actor: "ann", address: "192.0.2.7")

    private static func draft(
        id: Int64? = nil, type: BroadcastType = .downtime, title: String = "Maintenance", expiry: Int = 60,
        epoch: BroadcastEpoch? = nil
    ) -> BroadcastDraft {
        BroadcastDraft(
            id: id, type: type, epoch: epoch, expiry: expiry,
            actionData: BroadcastActionData(translations: ["en": .init(title: title, msg: "m")]))
    }

    private static func withLog(
        _ kind: StoreKind, _ body: @Sendable (BroadcastLog, _ announced: @Sendable () -> [Revision]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
            let store = try await Storage.open(
                BroadcastStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
            let announced = Mutex<[Revision]>([])
            let log = BroadcastLog(store: store, language: "en", payloadLimit: .topic) { version in
                announced.withLock { $0.append(version) }
            }
            try await perform {
                try await body(log) { announced.withLock(\.self) }
            } finally: {
                try await store.close()
            }
        }
    }

    private static func status(_ body: () async throws -> Void) async -> ReplyStatus? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? CommandFailure)?.status ?? (error is SchemaViolation ? .invalid : .internal)
        }
    }

    @Test(
        "Identifiers count upwards, an edit makes a version, a withdrawal one more, and each change is announced",
        arguments: StoreKind.allCases)
    func life(kind: StoreKind) async throws {
        try await Self.withLog(kind) { log, announced in
            let first = try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann).broadcast
            #expect(first.id == 1 && first.version == 1 && first.sender == "ann" && first.state(at: .now) == .active)
            let second = try await log.add(AddBroadcast(Self.draft(id: 40)), sender: "ann", by: Self.ann).broadcast
            #expect(second.id == 40)
            #expect(try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann).broadcast.id == 41)

            let edited = try await log.update(UpdateBroadcast(1, Self.draft(title: "Later"), unchangedSince: 1), by: Self.ann)
            #expect(edited.broadcast.version == 2 && edited.broadcast.actionData.translations?["en"]?.title == "Later")
            #expect(
                await Self.status { _ = try await log.update(UpdateBroadcast(1, Self.draft(), unchangedSince: 1), by: Self.ann) }
                    == .conflict)

            let withdrawn = try await log.withdraw(WithdrawBroadcast(1), by: Self.ann)
            #expect(withdrawn.broadcast.version == 3 && withdrawn.broadcast.state(at: .now) == .withdrawn)
            // Again: nothing changes.
            #expect(try await log.withdraw(WithdrawBroadcast(1), by: Self.ann) == withdrawn)
            #expect(await Self.status { _ = try await log.update(UpdateBroadcast(1, Self.draft()), by: Self.ann) } == .conflict)
            #expect(announced().map(\.rawValue) == [1, 2, 3, 4, 5])

            let current = try await log.current()
            #expect(current.version == 5 && current.broadcasts.map(\.id) == [40, 41])
            #expect(current.withdrawn == [WithdrawnBroadcast(withdrawn.broadcast)])
            #expect(try await log.page(ListBroadcasts(limit: 2)).broadcasts.map(\.id) == [41, 40])
            #expect(try await log.page(ListBroadcasts(limit: 10, state: .withdrawn)).broadcasts.map(\.id) == [1])
            #expect(try await log.stored(1).broadcast == withdrawn.broadcast)
            #expect(await Self.status { _ = try await log.stored(99) } == .notFound)
        }
    }

    @Test(
        "A repeated command is the same broadcast, and another one with its key or id is a conflict",
        arguments: StoreKind.allCases)
    func repeated(kind: StoreKind) async throws {
        try await Self.withLog(kind) { log, announced in
            let command = AddBroadcast(Self.draft(), idempotencyKey: "k")
            let added = try await log.add(command, sender: "ann", by: Self.ann)
            #expect(try await log.add(command, sender: "ann", by: Self.ann).broadcast == added.broadcast)
            #expect(announced().count == 1)
            let other = AddBroadcast(Self.draft(title: "Other"), idempotencyKey: "k")
            #expect(await Self.status { _ = try await log.add(other, sender: "ann", by: Self.ann) } == .conflict)
            #expect(try await log.add(other, sender: "bob", by: Self.ann).broadcast.id == 2)
            let numbered = AddBroadcast(Self.draft(id: 9))
            let nine = try await log.add(numbered, sender: "ann", by: Self.ann).broadcast
            #expect(try await log.add(numbered, sender: "ann", by: Self.ann).broadcast == nine)
            let taken = AddBroadcast(Self.draft(id: 9, title: "Other"))
            #expect(await Self.status { _ = try await log.add(taken, sender: "ann", by: Self.ann) } == .conflict)
            _ = try await log.update(UpdateBroadcast(1, Self.draft(title: "New")), by: Self.ann)
            // The command was performed, even if the broadcast was edited since. Another command with the same key was not.
            #expect(try await log.add(command, sender: "ann", by: Self.ann).broadcast.version == 2)
            #expect(await Self.status { _ = try await log.add(other, sender: "ann", by: Self.ann) } == .conflict)
        }
    }

    @Test("An edit that changes nothing makes no version, even with the version that the editor has read")
    func unchanged() async throws {
        try await Self.withLog(.sqlite) { log, announced in
            let added = try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann).broadcast
            let draft = Self.draft(title: "New", epoch: added.epoch)
            let edited = try await log.update(UpdateBroadcast(1, draft, unchangedSince: 1), by: Self.ann)
            #expect(edited.broadcast.version == 2 && edited.broadcast.starts == added.starts)
            #expect(try await log.update(UpdateBroadcast(1, draft, unchangedSince: 1), by: Self.ann) == edited)
            #expect(try await log.update(UpdateBroadcast(1, draft), by: Self.ann) == edited)
            #expect(announced().count == 2)
        }
    }

    @Test(
        "An edit that shortens it: phones learn that it is over, and it can be withdrawn, until the earlier version expires",
        arguments: StoreKind.allCases)
    func shortened(kind: StoreKind) async throws {
        try await Self.withLog(kind) { log, _ in
            let epoch = BroadcastEpoch(.now - .seconds(600))
            let first = try await log.add(AddBroadcast(Self.draft(expiry: 60, epoch: epoch)), sender: "ann", by: Self.ann)
                .broadcast
            var draft = Self.draft(epoch: epoch)
            (draft.expiry, draft.lifetime) = (nil, UnixMilliseconds.now - epoch.moment + 3_000)
            let second = try await log.update(UpdateBroadcast(1, draft), by: Self.ann).broadcast
            let active = try await log.current()
            #expect(active.broadcasts.map(\.version) == [2] && active.broadcasts.map(\.until) == [first.expires])
            #expect(active.withdrawn.isEmpty)
            try await eventually("it has expired") { second.expires <= .now }
            let over = try await log.current()
            #expect(over.broadcasts.isEmpty)
            #expect(over.withdrawn == [WithdrawnBroadcast(id: 1, version: 2, expires: first.expires)])
            #expect(await Self.status { _ = try await log.update(UpdateBroadcast(1, Self.draft()), by: Self.ann) } == .conflict)
            let withdrawn = try await log.withdraw(WithdrawBroadcast(1), by: Self.ann).broadcast
            #expect(withdrawn.version == 3 && withdrawn.state(at: .now) == .withdrawn)
            #expect(try await log.current().withdrawn == [WithdrawnBroadcast(id: 1, version: 3, expires: first.expires)])
        }
    }

    @Test("What has expired can be neither edited nor withdrawn")
    func expired() async throws {
        try await Self.withLog(.sqlite) { log, _ in
            try await log.store.insert(
                try Self.stored(Self.draft(epoch: BroadcastEpoch(.now - .seconds(7_200))), id: 1), into: BroadcastStore.all)
            #expect(await Self.status { _ = try await log.update(UpdateBroadcast(1, Self.draft()), by: Self.ann) } == .conflict)
            #expect(await Self.status { _ = try await log.withdraw(WithdrawBroadcast(1), by: Self.ann) } == .conflict)
        }
    }

    @Test("The highest possible id does not end the numbering", arguments: StoreKind.allCases)
    func highestID(kind: StoreKind) async throws {
        try await Self.withLog(kind) { log, _ in
            for id in [41, BroadcastDraft.maxID, BroadcastDraft.maxID - 1] {
                _ = try await log.add(AddBroadcast(Self.draft(id: id)), sender: "ann", by: Self.ann)
            }
            for id in [42, 43] as [Int64] {
                #expect(try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann).broadcast.id == id)
            }
        }
    }

    @Test("All languages together must fit into one message of FCM")
    func size() async throws {
        try await Self.withLog(.sqlite) { log, _ in
            let texts = BroadcastActionData.Translation(title: "a", msg: String(repeating: "ح", count: 1_000))
            var draft = Self.draft()
            draft.actionData.translations = ["en": texts, "ar": texts]
            do {
                _ = try await log.add(AddBroadcast(draft), sender: "ann", by: Self.ann)
                Issue.record("accepted")
            } catch let violation as SchemaViolation {
                #expect(violation.field == "actiondata" && violation.problem.contains("4096"), "\(violation)")
            }
            draft.actionData.translations = ["en": texts]
            _ = try await log.add(AddBroadcast(draft), sender: "ann", by: Self.ann)
        }
    }

    @Test("Each change has an entry for the audit log, and a refused one has none")
    func audit() async throws {
        try await Self.withLog(.sqlite) { log, _ in
            _ = try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann)
            _ = try await log.update(UpdateBroadcast(1, Self.draft(title: "New")), by: Self.ann)
            _ = await Self.status { _ = try await log.update(UpdateBroadcast(2, Self.draft()), by: Self.ann) }
            _ = try await log.withdraw(WithdrawBroadcast(1), by: Self.ann)
            #expect(try await AuditQueue(of: log.store).pendingAudit(limit: 10).count == 3)
        }
    }

    @Test("Simultaneous additions get different identifiers", arguments: StoreKind.allCases)
    func simultaneous(kind: StoreKind) async throws {
        try await Self.withLog(kind) { log, _ in
            let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let command = AddBroadcast(Self.draft(title: "\(number)"))
                        return try await log.add(command, sender: "ann", by: Self.ann).broadcast.id
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(ids) == Set(1...8))
        }
    }

    private static func stored(_ draft: BroadcastDraft, id: Int64) throws -> StoredBroadcast {
        try StoredBroadcast(Broadcast(draft, id: id, language: "en", sender: "ann", now: .now), by: AddBroadcast(draft))
    }

    @Test("Too many that have not expired are refused, even after the withdrawal of those that would expire first")
    func tooMany() async throws {
        try await Self.withLog(.sqlite) { log, _ in
            let stored = try (1...Int64(BroadcastLog.maxCurrent)).map { id in
                try Self.stored(Self.draft(expiry: 60 + Int(id)), id: id)
            }
            try await log.store.transaction { try $0.insert(all: stored, into: BroadcastStore.all) }
            func add() async -> ReplyStatus? {
                await Self.status { _ = try await log.add(AddBroadcast(Self.draft(expiry: 500)), sender: "ann", by: Self.ann) }
            }
            #expect(await add() == .conflict)
            _ = try await log.withdraw(WithdrawBroadcast(1), by: Self.ann)
            #expect(await add() == nil)
            #expect(await add() == .conflict)
            // An edit needs no room.
            _ = try await log.update(UpdateBroadcast(2, Self.draft(title: "New")), by: Self.ann)
        }
    }

    @Test("Too many that were withdrawn before their expiry are refused")
    func tooManyOver() async throws {
        try await Self.withLog(.sqlite) { log, _ in
            let stored = try (1...Int64(BroadcastLog.maxOver)).map { id in
                var stored = try Self.stored(Self.draft(), id: id)
                var withdrawn = stored.broadcast
                (withdrawn.withdrawn, withdrawn.version) = (.now, 2)
                stored.replace(by: withdrawn, at: .now)
                return stored
            }
            try await log.store.transaction { try $0.insert(all: Array(stored.dropLast()), into: BroadcastStore.all) }
            _ = try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann)
            _ = try await log.withdraw(WithdrawBroadcast(Int64(stored.count)), by: Self.ann)
            #expect(
                await Self.status { _ = try await log.add(AddBroadcast(Self.draft()), sender: "ann", by: Self.ann) } == .conflict)
        }
    }
}
