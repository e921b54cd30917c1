import Logging
import MongoDatabase
import Synchronization

/// Whether another program has stored two documents with the same `msi_key` or idempotency key. Then there is no unique index,
/// and the store looks for an existing message before each insert.
final class DuplicateMessages: Sendable {
    private let logger: Logger
    private let areKnown = Mutex(false)

    init(logger: Logger) {
        self.logger = logger
    }

    var exist: Bool { areKnown.withLock(\.self) }

    /// - Parameter error: The server's error, which contains one of the keys.
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
