import Logging
import MessageStorage
import Schemas
import Synchronization
import TestSupport
import Testing
import Time

@testable import MessageLog

/// The owner of a message whose turn begins late, because the process was stopped or the database was slow.
@Suite("Leases", .timeLimit(.minutes(10)))
struct LeaseTests {
    /// Accepts everything, and records the end of each lease.
    private final class RecordingRelay: Relay {
        let asked = Mutex<[ObjectID: UnixMilliseconds]>([:])

        func relay(
            _ command: RelayMessage, by end: UnixMilliseconds
        ) async throws(CommandFailure) -> [ComponentOutcome] {
            asked.withLock { $0[command.msiKey] = end }
            return command.components.map(\.accepted)
        }

        func relay(
            _ command: RelayPush, by end: UnixMilliseconds
        ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
            Issue.record("there is no push")
            return []
        }
    }

    /// Runs an outbox on a due message, and then on a second one until that is relayed.
    ///
    /// - Parameters:
    ///   - first: The due message.
    ///   - meanwhile: A change of its record between its claim and its turn.
    /// - Returns: The first message at the end, and the end of the lease with which a relay got it; `nil` if no relay did.
    private func outcome(
        of first: Message = message(), meanwhile: @escaping @Sendable (inout RelayRecord) -> Void = { _ in }
    ) async throws -> (message: Message, asked: UnixMilliseconds?) {
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            _ = try await store.insert(first)
            let relay = RecordingRelay()
            let isFirst = Mutex(true)
            // The claim takes so long that hardly anything is left of the lease.
            let slow = ClaimedStore(store: store) { claim, lease, now in
                let lease = Lease(owner: lease.owner, until: now + 2_000)
                let items = try await store.claim(claim, lease: lease, now: now)
                for message in items.compactMap(\.message) {
                    try await store.update(message.msiKey) { record, _ in
                        let isFirst = isFirst.withLock { isFirst in
                            defer { isFirst = false }
                            return isFirst
                        }
                        if isFirst { meanwhile(&record) }
                    }
                }
                return items
            }
            let outbox = Outbox(store: slow, relay: relay, owner: "me", announcer: OutboxAnnouncer { _ in }, logger: quietLogger)
            let running = Task { try await outbox.run() }
            try await eventually { !isFirst.withLock(\.self) }
            let second = Self.message()
            _ = try await outbox.log(.message(second))
            try await eventually { try await store.message(second.msiKey)?.relay.state == .relayed }
            running.cancel()
            _ = await running.result
            let message = try #require(try await store.message(first.msiKey))
            try store.close()
            return (message, relay.asked.withLock { $0[first.msiKey] })
        }
    }

    static func message() -> Message {
        Message(
            msiKey: ObjectID(),
            draft: MessageDraft(title: "T", desc: "D", message: "M", topicKey: .sample, distribution: .information),
            sender: "S", timestamp: .now, names: CubeNames(channel: "C", area: "A", subject: "S"), expires: .now + 3_600_000,
            relay: RelayRecord(logged: .information, due: .now))
    }

    @Test("A turn that begins late renews its lease first, and no relay works beyond the lease's end")
    func renewed() async throws {
        let before = UnixMilliseconds.now
        let (message, asked) = try await outcome { _ in }
        #expect(message.relay.state == .relayed)
        #expect(try #require(asked) >= before + 30_000)
    }

    @Test("If a claim fails halfway, its items are relayed, and the log names the error until a claim succeeds")
    func partialClaim() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            let message = Self.message()
            _ = try await store.insert(message)
            let isFailing = Mutex(true)
            let failing = ClaimedStore(store: store) { claim, lease, now in
                let items = try await store.claim(claim, lease: lease, now: now)
                guard isFailing.withLock(\.self) else { return items }
                throw PartialClaim(items: items, cause: CommandFailure(.unavailable, "the pushes cannot be leased"))
            }
            let log = RecordedLog()
            let outbox = Outbox(
                store: failing, relay: RecordingRelay(), owner: "me", announcer: OutboxAnnouncer { _ in }, logger: log.logger)
            let running = Task { try await outbox.run() }
            try await eventually { try await store.message(message.msiKey)?.relay.state == .relayed }
            let lines = log.louderThanDebug.filter { $0.contains("cannot be claimed") }
            #expect(lines.count == 1 && lines[0].contains("the pushes cannot be leased"))
            isFailing.withLock { $0 = false }
            try await eventually { log.louderThanDebug.contains { $0.hasPrefix("over: due messages cannot be claimed") } }
            running.cancel()
            _ = await running.result
            try store.close()
        }
    }

    @Test("After the clock was set forward, a due message goes out at once, and another instance's lease is respected")
    func clockSetForward() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            let relay = RecordingRelay()
            let outbox = Outbox(store: store, relay: relay, owner: "me", announcer: OutboxAnnouncer { _ in }, logger: quietLogger)
            // The last time that it saw is an hour ago, by a clock that was an hour behind.
            outbox.leaseClock.withLock { $0 = LeaseClock(wall: .now - 3_600_000, monotonic: .now) }
            var leased = Self.message()
            // It has ended only by the new time.
            leased.relay.lease = Lease(owner: "another", until: .now - 1_000)
            leased.relay.nextAttempt = leased.relay.lease?.until
            let due = Self.message()
            for message in [leased, due] { _ = try await store.insert(message) }
            let running = Task { try await outbox.run() }
            try await eventually { try await store.message(due.msiKey)?.relay.state == .relayed }
            running.cancel()
            _ = await running.result
            #expect(try await store.message(leased.msiKey)?.relay == leased.relay)
            #expect(relay.asked.withLock { Array($0.keys) } == [due.msiKey])
            try store.close()
        }
    }

    @Test("A message that another instance has leased meanwhile is left to it")
    func takenOver() async throws {
        let end = UnixMilliseconds.now + 60_000
        let (message, asked) = try await outcome { record in
            record.lease = Lease(owner: "another", until: end)
            record.nextAttempt = end
        }
        #expect(asked == nil)
        #expect(message.relay.lease == Lease(owner: "another", until: end) && message.relay.state == .pending)
    }

    @Test("A held message that a claim returns before it expires is not relayed, and stays held")
    func held() async throws {
        var first = Self.message()
        // As if its lease at its expiry had been released after the clock was set back.
        first.relay.state = .held
        let (message, asked) = try await outcome(of: first)
        #expect(asked == nil)
        #expect(message.relay.state == .held)
    }

    @Test("A message that was recalled meanwhile does not go out")
    func recalled() async throws {
        let (message, asked) = try await outcome { record in
            record.lease = nil
            record.nextAttempt = nil
            record.state = .recalled
            record.components[0].state = .recalled
        }
        #expect(asked == nil)
        #expect(message.relay.state == .recalled)
    }
}
