import Logging
import MongoDatabase
import Synchronization

/// Whether another program has stored two documents with one `msi_key`, or one idempotency key. There is no unique index then,
/// so the store itself looks for a message before it stores it.
final class DuplicateMessages: Sendable {
    private let logger: Logger
    private let areKnown = Mutex(false)

    init(logger: Logger) {
        self.logger = logger
    }

    var exist: Bool { areKnown.withLock(\.self) }

    /// - Parameter error: What the server says, with one of the keys.
    func found(_ error: MongoError) {
        areKnown.withLock { $0 = true }
        logger.error(
            """
            two documents in message have the same key: remove one of them and start the service again; until then messages are \
            stored one at a time
            """,
            metadata: ["error": "\(error)"])
    }
}
