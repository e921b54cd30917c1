import Bus
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

/// All that removes messages, and what is kept beside them.
struct Removals: Sendable {
    let messages: MessageRemoval
    let expiry: Expiry
    let traces: Traces
    let restored: RestoredMessages
    private let changes: MessagingChanges
    private let log: RemovedMessages
    private let logger: Logger

    /// - Parameters:
    ///   - traces: Knows of each removal.
    ///   - isAlone: Whether no other machine has the service.
    init(
        changes: MessagingChanges, digests: MessageDigests, log: RemovedMessages, people: CommandClient, traces: Traces,
        isAlone: Bool, logger: Logger
    ) {
        self.changes = changes
        self.log = log
        self.traces = traces
        self.logger = logger
        messages = MessageRemoval(changes: changes, digests: digests, log: log, people: people, logger: logger)
        expiry = Expiry(changes: changes, removal: messages) { [store = changes.store] in store.isNearlyFull }
        restored = RestoredMessages(changes: changes, digests: digests, log: log, isAlone: isAlone, logger: logger)
    }

    /// Call it before anybody can ask: nobody is to get a message of a backup that was removed since.
    ///
    /// - Returns: Whether it has looked. Otherwise the ``services(hasLooked:)`` look again, and until then no answer has messages.
    func begin() async -> Bool {
        do {
            try await log.compact(at: changes.now())
        } catch {
            logger.error("the log of removed messages cannot be written, so none is removed", metadata: ["error": "\(error)"])
        }
        do {
            try await restored.look()
            return true
        } catch {
            logger.warning("restored messages cannot be removed yet", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// The loops.
    ///
    /// - Parameter hasLooked: What ``begin()`` has returned.
    func services(hasLooked: Bool) -> [any Service] {
        let old = OldDocuments(changes: changes)
        var services: [any Service] = [
            traces,
            RepeatingService(
                every: MessageRemoval.period, outage: OutageLog("read messages cannot be removed", logger: logger)
            ) { [messages] in try await messages.look() },
            RepeatingService(
                every: Expiry.period, outage: OutageLog("messages that have waited too long cannot be removed", logger: logger)
            ) { [expiry] in try await expiry.round() },
            RepeatingService(
                every: OldDocuments.period, outage: OutageLog("old conversations and reports cannot be removed", logger: logger)
            ) { try await old.round() },
        ]
        if !hasLooked {
            let outage = OutageLog("restored messages cannot be removed", logger: logger)
            services.append(
                RepeatingService(every: .seconds(1), outage: outage, from: ()) { [restored] _ in
                    try await restored.look()
                    return .never
                })
        }
        return services
    }
}
