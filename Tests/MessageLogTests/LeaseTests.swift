import Logging
import Archive
import Schemas
import ServiceKit
import Synchronization
import TestSupport
import Testing
import Base

@testable import MessageLog

/// The owner of a message whose turn begins late, because the process was stopped or the database was slow.
@Suite("Leases", .timeLimit(.minutes(10)))
struct LeaseTests {
    /// Runs an outbox on a due message, and then on a second one until that is relayed.
    ///
    /// - Parameters:
    ///   - first: The due message.
    ///   - rest: What is left of its lease after a slow claim.
    ///   - change: A change of its record between its claim and its turn.
    /// - Returns: The first message at the end, and the end of the lease with which a relay got it; `nil` if no relay did.
    private func outcome(
        of first: Message = .sample(), rest: Milliseconds = 2_000,
        changing change: @escaping @Sendable (inout RelayRecord) -> Void = { _ in }
    ) async throws -> (message: Message, asked: UnixMilliseconds?) {
        try await withArchive { store in
            _ = try await store.insert(first)
            let (relay, isFirst) = (AcceptingRelay(), First())
            let slow = ClaimedStore(store: store) { claim, lease, now in
                let lease = Lease(owner: lease.owner, until: now + rest)
                let items = try await store.claim(claim, lease: lease, now: now)
                for message in items.compactMap(\.message) {
                    try await store.update(message.msiKey) { record, _ in if isFirst.take() { change(&record) } }
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

    @Test(
        "A turn that begins late renews its lease first, so that no relay works beyond its end by a clock five seconds ahead",
        arguments: [2_000, 26_000] as [Milliseconds])
    func renewed(rest: Milliseconds) async throws {
        let before = UnixMilliseconds.now
        let (message, asked) = try await outcome(rest: rest) { _ in }
        #expect(message.relay.state == .relayed)
        #expect(try #require(asked) >= before + Lease.duration)
    }

    @Test(
        "A renewal that takes so long that the new lease is too short is repeated once, and then the lease is released", .atLength
    )
    func slowRenewals() async throws {
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let relay = AcceptingRelay()
            let slow = Mutex(0)
            let claims = Mutex(0)
            // The rest of the first lease is too short for a turn.
            var late = ClaimedStore(store: store) { claim, lease, now in
                let isFirst = claims.withLock { $0 == 0 }
                let lease = isFirst ? Lease(owner: lease.owner, until: now + 2_000) : lease
                let items = try await store.claim(claim, lease: lease, now: now)
                if !items.isEmpty { claims.withLock { $0 += 1 } }
                return items
            }
            let delay = DeliveryTimes.leaseDuration - DeliveryTimes.minLease + .milliseconds(500)
            late.change = { body in
                let isSlow = slow.withLock { count in
                    count += 1
                    return count <= 2
                }
                let changed = try await body()
                if isSlow { try await Task.sleep(for: delay) }
                return changed
            }
            let begin = UnixMilliseconds.now
            try await Outbox.sample(late, relay).run {
                try await eventually { try await store.message(message.msiKey)?.relay.state == .relayed }
            }
            #expect(claims.withLock(\.self) == 2)
            let end = try #require(relay.leaseEnds(of: message).first)
            #expect(relay.count(message) == 1 && end - begin > Milliseconds(delay * 2 + DeliveryTimes.minLease))
            #expect(
                end - begin < Milliseconds(delay + DeliveryTimes.leaseDuration * 2), "not only when the renewed lease had ended")
        }
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

    @Test("A message whose lease another machine has shortened is relayed soon after its turn has noticed that, and once")
    func shortened() async throws {
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let (relay, first) = (AcceptingRelay(), First())
            let shortening = ClaimedStore(store: store) { claim, lease, now in
                guard !first.isTaken else { return try await store.claim(claim, lease: lease, now: now) }
                // Too short for a turn, so that the turn renews it.
                let late = Lease(owner: lease.owner, until: now + 20_000)
                let items = try await store.claim(claim, lease: late, now: now)
                for message in items.compactMap(\.message) {
                    try await store.update(message.msiKey) { record, _ in
                        record.lease?.until = now + 19_000
                        record.nextAttempt = now + 19_000
                    }
                }
                if !items.isEmpty { _ = first.take() }
                return items
            }
            let begin = UnixMilliseconds.now
            try await Outbox.sample(shortening, relay).run {
                try await eventually { try await store.message(message.msiKey)?.relay.state == .relayed }
            }
            let end = try #require(relay.leaseEnds(of: message).first)
            #expect(relay.count(message) == 1)
            #expect(end - begin < 19_000 + Lease.duration, "not only when the shortened lease had ended")
        }
    }

    @Test("What FCM has accepted for a process that had lost its lease is kept when the next one stores its own outcome")
    func lateAnswer() async throws {
        try await withArchive { store in
            let message = Message.sample(.sample())
            _ = try await store.insert(message)
            let relay = RefusingRelay()
            let outbox = Outbox.sample(store, relay)
            try await outbox.run {
                try await eventually { relay.isAsked }
                // The answer for the process that had the lease before.
                let late = [Component.notification.accepted].results(for: message.relay)
                try await store.update(message.msiKey) { record, _ in
                    record.answered(
                        late, to: "another", at: .now, expires: message.expires, schedule: RetrySchedule(), random: 0.5)
                }
                relay.gate.open()
                try await eventually { try await store.message(message.msiKey)?.relay.state == .failed }
            }
            let states = try await store.message(message.msiKey)?.relay.components.map(\.state)
            #expect(states == [.accepted, .failed])
        }
    }

    @Test("An outcome whose write was made and not answered is stored once, with one time in the acceptance order")
    func lostAnswer() async throws {
        try await withArchive { store in
            let relay = AcceptingRelay()
            let writes = Mutex<[RelayRecord]>([])
            var losing = ClaimedStore(store: store) { try await store.claim($0, lease: $1, now: $2) }
            losing.change = { body in
                let changed = try await body()
                guard let record = changed?.relay, record.state == .relayed else { return changed }
                let isFirst = writes.withLock { writes in
                    writes.append(record)
                    return writes.count == 1
                }
                if isFirst { throw CommandFailure(.unavailable, "the database has not answered") }
                return changed
            }
            let message = Message.sample()
            let outbox = Outbox.sample(losing, relay)
            try await outbox.run {
                _ = try await outbox.log(.message(message))
                try await eventually { writes.withLock { $0.count == 2 } }
            }
            let accepted = writes.withLock { $0.map(\.accepted) }
            #expect(relay.count(message) == 1 && accepted.count == 2 && accepted[0] == accepted[1])
            #expect(try await store.message(message.msiKey)?.relay.accepted == accepted[0])
        }
    }

    @Test("A message that another instance has leased since its claim is left to it")
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

    @Test("A message that was recalled since its claim does not go out")
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
