import Bus
import Logging
import Archive
import Schemas
import ServiceContextModule
import ServiceKit
import ServiceLifecycle

/// Ends expired messages and pushes. This needs no relay and no room in the outbox, so it does not wait for them. An item that is
/// being relayed is left to its turn.
struct Expiry: Service {
    private static let period = Duration.seconds(1)
    /// The size of a batch.
    private static let batch = 200
    /// A search ends when it has found this many items that cannot be ended.
    private static let maxSkipped = 10_000

    private let store: any MessageStore
    private let announcer: OutboxAnnouncer
    private let logger: Logger

    init(store: any MessageStore, announcer: OutboxAnnouncer, logger: Logger) {
        self.store = store
        self.announcer = announcer
        self.logger = logger
    }

    func run() async throws {
        let outage = OutageLog("expired messages cannot be ended", logger: logger)
        await RepeatingService(every: Self.period, outage: outage, from: Set<OutboxKey>()) { skipped in
            try await expireAll(&skipped)
            return .periodic
        }.run()
    }

    /// - Parameter skipped: Items that cannot be ended. They must not block the others.
    private func expireAll(_ skipped: inout Set<OutboxKey>) async throws {
        while true {
            let limit = Self.batch + skipped.count
            let expired = try await store.expired(by: .now, limit: limit)
            // Messages that another process has ended are no longer found.
            skipped.formIntersection(expired)
            let known = skipped
            try await skipped.formUnion(expire(expired.filter { !known.contains($0) }))
            guard expired.count == limit, skipped.count < Self.maxSkipped else { break }
        }
    }

    /// - Returns: The messages that cannot be ended.
    /// - Throws: ``CommandFailure`` if the database is unreachable or full.
    private func expire(_ keys: [OutboxKey]) async throws -> [OutboxKey] {
        try await withThrowingTaskGroup(of: OutboxKey?.self) { group in
            for key in keys {
                group.addTask {
                    let work = ServiceContext.current { $0.name(key) }
                    return try await ServiceContext.withValue(work) { try await expire(key) } ? nil : key
                }
            }
            return try await group.reduce(into: []) { skipped, key in
                if let key { skipped.append(key) }
            }
        }
    }

    /// The message has ended already; the expired document is a copy of it with the same key.
    private struct HasEnded: Error {}

    /// - Returns: Whether it has ended or is being relayed.
    private func expire(_ key: OutboxKey) async throws -> Bool {
        do {
            let changed = try await store.change(key) { record, item, _ in
                guard record.nextAttempt != nil else { throw HasEnded() }
                record.expire(at: .now, expires: item.expires)
            }
            if let changed, changed.item.record.nextAttempt == nil {
                changed.item.reportState(to: logger)
                announcer.announce(changed)
            }
            return true
        } catch is HasEnded {
            return false
        } catch let error where !(error is CommandFailure || error is CancellationError) {
            logger.error("an expired message cannot be read and stays unchanged", metadata: ["error": "\(error)"])
            return false
        }
    }
}
