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
    /// Runs an outbox on a due message, and then on a second one until that is relayed.
    ///
    /// - Parameters:
    ///   - first: The due message.
    ///   - meanwhile: A change of its record between its claim and its turn.
    /// - Returns: The first message at the end, and the end of the lease with which a relay got it; `nil` if no relay did.
    private func outcome(
        of first: Message = .sample(), meanwhile: @escaping @Sendable (inout RelayRecord) -> Void = { _ in }
    ) async throws -> (message: Message, asked: UnixMilliseconds?) {
        try await withArchive { store in
            _ = try await store.insert(first)
            let (relay, isFirst) = (AcceptingRelay(), First())
            // The claim takes so long that hardly anything is left of the lease.
            let slow = ClaimedStore(store: store) { claim, lease, now in
                let lease = Lease(owner: lease.owner, until: now + 2_000)
                let items = try await store.claim(claim, lease: lease, now: now)
                for message in items.compactMap(\.message) {
                    try await store.update(message.msiKey) { record, _ in if isFirst.take() { meanwhile(&record) } }
                }
                return items
            }
            let outbox = Outbox.sample(slow, relay)
            try await outbox.run {
                try await eventually { isFirst.isTaken }
                let second = Message.sample()
                _ = try await outbox.log(.message(second))
                try await eventually { try await store.message(second.msiKey)?.relay.state == .relayed }
            }
            return (try #require(try await store.message(first.msiKey)), relay.leaseEnds(of: first).last)
        }
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
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let isFailing = Mutex(true)
            let failing = ClaimedStore(store: store) { claim, lease, now in
                let items = try await store.claim(claim, lease: lease, now: now)
                guard isFailing.withLock(\.self) else { return items }
                throw PartialClaim(items: items, cause: CommandFailure(.unavailable, "the pushes cannot be leased"))
            }
            let log = RecordedLog()
            try await Outbox.sample(failing, AcceptingRelay(), logger: log.logger).run {
                try await eventually { try await store.message(message.msiKey)?.relay.state == .relayed }
                let lines = log.louderThanDebug.filter { $0.contains("cannot be claimed") }
                #expect(lines.count == 1 && lines[0].contains("the pushes cannot be leased"))
                isFailing.withLock { $0 = false }
                try await eventually { log.louderThanDebug.contains { $0.hasPrefix("over: due messages cannot be claimed") } }
            }
        }
    }

    @Test("After the clock was set forward, a due message goes out at once, and another instance's lease is respected")
    func clockSetForward() async throws {
        try await withArchive { store in
            let relay = AcceptingRelay()
            let outbox = Outbox.sample(store, relay)
            // The last time that it saw is an hour ago, by a clock that was an hour behind.
            outbox.leaseClock.withLock { $0 = LeaseClock(wall: .now - 3_600_000, monotonic: .now) }
            var leased = Message.sample()
            // It has ended only by the new time.
            leased.relay.lease = Lease(owner: "another", until: .now - 1_000)
            leased.relay.nextAttempt = leased.relay.lease?.until
            let due = Message.sample()
            for message in [leased, due] { _ = try await store.insert(message) }
            try await outbox.run {
                try await eventually { try await store.message(due.msiKey)?.relay.state == .relayed }
            }
            #expect(try await store.message(leased.msiKey)?.relay == leased.relay)
            #expect(relay.count(due) == 1 && relay.count(leased) == 0)
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
        var first = Message.sample()
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
