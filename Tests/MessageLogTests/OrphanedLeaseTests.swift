import Archive
import Schemas
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Base

@testable import MessageLog

/// Operations that store a lease and fail, as on a slow database. The lease lasts 35 seconds, and the tests wait for less.
@Suite("Orphaned leases", .timeLimit(.minutes(10)))
struct OrphanedLeaseTests {
    private static let noAnswer = CommandFailure(.unavailable, "the database has not answered")

    private func waitUntilRelayed(_ message: Message, in store: SQLiteMessageStore) async throws {
        try await eventually { try await store.message(message.msiKey)?.relay.state == .relayed }
    }

    /// Fails after a claim, like a database whose answer is lost.
    private static func failSlowly() async throws -> Never {
        // The lease of a claim that fails within a millisecond is not released.
        try await Task.sleep(for: .milliseconds(2))
        throw noAnswer
    }

    @Test("A message that was leased by a failed claim is relayed soon, and once")
    func claim() async throws {
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let (relay, first) = (AcceptingRelay(), First())
            let failing = ClaimedStore(store: store) { claim, lease, now in
                let items = try await store.claim(claim, lease: lease, now: now)
                if !items.isEmpty, first.take() { try await Self.failSlowly() }
                return items
            }
            try await Outbox.sample(failing, relay).run { try await waitUntilRelayed(message, in: store) }
            #expect(relay.count(message) == 1)
        }
    }

    @Test("Of a partial claim, the missing item is released, and the one in flight keeps its lease")
    func partialClaim() async throws {
        try await withArchive { store in
            let (held, missing) = (Message.sample(), Message.sample())
            for message in [held, missing] { _ = try await store.insert(message) }
            let (relay, first) = (AcceptingRelay(holding: held.msiKey), First())
            let claimed = Mutex<[OutboxKey]>([])
            let failing = ClaimedStore(store: store) { claim, lease, now in
                let items = try await store.claim(claim, lease: lease, now: now)
                claimed.withLock { $0 += items.map(\.key) }
                guard !items.isEmpty, first.take() else { return items }
                try await Task.sleep(for: .milliseconds(2))
                throw PartialClaim(items: items.filter { $0.key == .message(held.msiKey) }, cause: Self.noAnswer)
            }
            try await Outbox.sample(failing, relay).run {
                try await waitUntilRelayed(missing, in: store)
                let stored = try #require(try await store.message(held.msiKey))
                #expect(stored.relay.lease?.owner == "me" && stored.relay.state == .pending)
                relay.gate.open()
                try await waitUntilRelayed(held, in: store)
            }
            #expect(relay.count(held) == 1 && relay.count(missing) == 1)
            #expect(claimed.withLock { $0.filter { $0 == .message(held.msiKey) }.count == 1 })
        }
    }

    @Test("A message that was stored by a failed insert is relayed soon, and once")
    func insert() async throws {
        try await withArchive { store in
            let message = Message.sample()
            let (relay, first) = (AcceptingRelay(), First())
            var failing = ClaimedStore(store: store) { try await store.claim($0, lease: $1, now: $2) }
            failing.change = { body in
                let changed = try await body()
                if first.take() { throw Self.noAnswer }
                return changed
            }
            let outbox = Outbox.sample(failing, relay)
            try await outbox.run {
                await #expect(throws: CommandFailure.self) { try await outbox.log(.message(message)) }
                #expect(try await store.message(message.msiKey)?.relay.lease?.owner == "me")
                try await waitUntilRelayed(message, in: store)
            }
            #expect(relay.count(message) == 1)
        }
    }

    @Test("A message whose lease may have been renewed is relayed soon, and once", arguments: [true, false])
    func renewal(isStored: Bool) async throws {
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let (relay, first) = (AcceptingRelay(), First())
            // The rest of the lease is too short for a turn, so the turn renews it.
            var failing = ClaimedStore(store: store) { claim, lease, now in
                try await store.claim(claim, lease: Lease(owner: lease.owner, until: now + 21_500), now: now)
            }
            failing.change = { body in
                guard first.take() else { return try await body() }
                if isStored { _ = try await body() }
                throw Self.noAnswer
            }
            try await Outbox.sample(failing, relay).run { try await waitUntilRelayed(message, in: store) }
            #expect(relay.count(message) == 1)
        }
    }

    @Test("Orphaned leases do not delay a stop, after which no lease is left")
    func stop() async throws {
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let failed = Mutex(0)
            let failing = ClaimedStore(store: store) { claim, lease, now in
                guard try await !store.claim(claim, lease: lease, now: now).isEmpty else { return [] }
                failed.withLock { $0 += 1 }
                try await Self.failSlowly()
            }
            let group = ServiceGroup(services: [Outbox.sample(failing, AcceptingRelay())], logger: quietLogger)
            let running = Task { try await group.run() }
            defer { running.cancel() }
            // The second claim gets the message only after a release.
            try await eventually { failed.withLock { $0 == 2 } }
            let begin = ContinuousClock.now
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(ContinuousClock.now - begin < .seconds(25))
            let stored = try #require(try await store.message(message.msiKey))
            #expect(stored.relay.lease == nil && stored.relay.state == .pending)
        }
    }

    @Test("An orphaned lease is forgotten when it has ended, or if it is longer than a lease because the clock was set back")
    func end() {
        func lease(until end: UnixMilliseconds) -> OrphanedLease {
            OrphanedLease(lease: Lease(owner: "me", until: end), scope: .claim(.high))
        }
        let (short, long) = (lease(until: 10_000), lease(until: 10_000 + Lease.maxRest))
        var leases = OrphanedLeases()
        let isFirst = leases.add(short)
        let isFirstAgain = leases.add(long)
        #expect(isFirst && !isFirstAgain)
        let before = leases.remaining(at: 9_999)
        #expect(before == [short])
        let after = leases.remaining(at: 10_000)
        #expect(after == nil)
        let isFirstLater = leases.add(long)
        let later = leases.remaining(at: 10_000)
        #expect(isFirstLater && later == [long])
    }

    @Test("A lease counts for the items of its claim or for its own item, and for no other")
    func scope() {
        let (message, other) = (Message.sample(), Message.sample())
        let lease = Lease(owner: "me", until: 10_000)
        func has(_ held: Lease?, _ lease: Lease, of scope: OrphanedLease.Scope) -> Bool {
            var item = OutboxItem.message(message)
            item.change { $0.lease = held }
            return item.hasLease(of: [OrphanedLease(lease: lease, scope: scope)])
        }
        #expect(has(lease, lease, of: .claim(.normal)))
        #expect(has(lease, lease, of: .item(.message(message.msiKey))))
        #expect(!has(lease, lease, of: .claim(.high)))
        #expect(!has(lease, lease, of: .item(.message(other.msiKey))))
        #expect(!has(lease, Lease(owner: "me", until: 10_001), of: .claim(.normal)))
        #expect(!has(nil, lease, of: .claim(.normal)))
    }
}
