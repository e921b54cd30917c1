import CommandBus
import Logging
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit
import ServiceLifecycle

/// Ends messages whose deadline has passed, whatever else the outbox has to do: they need no relay, and no room beside those that
/// are being relayed. A message that is being relayed is left to its turn.
struct Expiry: Service {
    private static let period = Duration.seconds(1)
    /// How many messages are ended at a time.
    private static let batch = 200
    /// A look ends when it has found so many messages that cannot be ended.
    private static let maxSetAside = 10_000

    private let store: any MessageStore
    private let logger: Logger
    private let outage: OutageLog

    init(store: any MessageStore, logger: Logger) {
        self.store = store
        self.logger = logger
        outage = OutageLog("expired messages cannot be ended", logger: logger)
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var setAside: Set<ObjectID> = []
                while true {
                    try await expireAll(&setAside)
                    try await Task.sleep(for: Self.period)
                }
            }
        } catch is CancellationError {
            // The rest is ended after the next start.
        }
    }

    /// - Parameter setAside: Messages that cannot be ended: they do not keep the others from their end.
    /// - Throws: `CancellationError` alone.
    private func expireAll(_ setAside: inout Set<ObjectID>) async throws {
        do {
            while true {
                let limit = Self.batch + setAside.count
                let expired = try await store.expired(by: .now, limit: limit)
                // What another process has ended meanwhile is not found any more.
                setAside.formIntersection(expired)
                let known = setAside
                try await setAside.formUnion(expire(expired.filter { !known.contains($0) }))
                guard expired.count == limit, setAside.count < Self.maxSetAside else { break }
            }
            outage.worked()
        } catch let error where !(error is CancellationError) {
            outage.failed(error)
        }
    }

    /// - Returns: Those that cannot be ended.
    /// - Throws: ``CommandFailure`` where the database is away or full.
    private func expire(_ messages: [ObjectID]) async throws -> [ObjectID] {
        try await withThrowingTaskGroup(of: ObjectID?.self) { group in
            for message in messages {
                group.addTask {
                    let work = ServiceContext.current { $0.msiKey = message.description }
                    return try await ServiceContext.withValue(work) { try await expire(message) } ? nil : message
                }
            }
            return try await group.reduce(into: []) { setAside, message in
                if let message { setAside.append(message) }
            }
        }
    }

    /// What the store finds under the key has its end: what it has found expired is a copy of that.
    private struct HasEnded: Error {}

    /// - Returns: Whether it has ended, or is being relayed.
    private func expire(_ msiKey: ObjectID) async throws -> Bool {
        do {
            let message = try await store.update(msiKey) { record, message in
                guard record.nextAttempt != nil else { throw HasEnded() }
                record.expire(at: .now, expires: message.expires)
            }
            if let message, message.relay.nextAttempt == nil { message.reportState(to: logger) }
            return true
        } catch is HasEnded {
            return false
        } catch let error where !(error is CommandFailure || error is CancellationError) {
            logger.error("an expired message cannot be read, and stays as it is", metadata: ["error": "\(error)"])
            return false
        }
    }
}
