import Logging
import MessageStorage
import Schemas
import ServiceLifecycle
import Synchronization

/// Watches how much the archive takes up: it warns when there is little room left, and refuses new messages when there is none,
/// before the disk is full and others suffer. What is stored goes on its way in any case.
final class StorageWatch: Service {
    /// How often the size is read.
    private static let period = Duration.seconds(2)

    private let store: any MessageStore
    /// Whether the operator sets a limit.
    private let isLimited: Bool
    private let level: Mutex<StorageLevel>
    private let logger: Logger

    init(store: any MessageStore, limit: Int64?, logger: Logger) {
        self.store = store
        isLimited = limit != nil
        level = Mutex(StorageLevel(limit: limit ?? .max))
        self.logger = logger
    }

    /// Asks whether a message may be stored.
    ///
    /// - Returns: `nil` when it may; the message that is stored under the same keys already, when there is no room for another.
    /// - Throws: ``CommandFailure`` with status `storage_full` when there is no room for it.
    func admit(_ message: Message) async throws -> Message? {
        guard let full = level.withLock({ $0.mark == .full ? $0 : nil }) else { return nil }
        if let known = try await store.message(message.msiKey) { return known }
        if let key = message.idempotencyKey, let known = try await store.message(of: message.sender, idempotencyKey: key) {
            return known
        }
        throw CommandFailure(
            .storageFull, "the archive takes up \(full.bytes) bytes, and may have \(full.limit); no new message is taken")
    }

    func run() async throws {
        guard isLimited else { return try await gracefulShutdown() }
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    await self.measure()
                    try await Task.sleep(for: Self.period)
                }
            }
        } catch is CancellationError {
            // The watch ends with the service.
        }
    }

    private func measure() async {
        let bytes: Int64
        do {
            bytes = try await store.size()
        } catch {
            // Whoever stores a message meanwhile hears of it, and so does the log.
            logger.debug("the archive's size cannot be read", metadata: ["error": "\(error)"])
            return
        }
        guard let change = level.withLock({ level in level.measured(bytes).map { (mark: $0, level: level) } })
        else { return }
        let figures: Logger.Metadata = [
            "bytes": "\(change.level.bytes)", "limit": "\(change.level.limit)", "percent": "\(change.level.percent)",
        ]
        switch change.mark {
        case .fine: logger.info("the archive has room again", metadata: figures)
        case .nearlyFull: logger.warning("the archive is nearly full", metadata: figures)
        case .full: logger.error("the archive is full: new messages are refused", metadata: figures)
        }
    }
}
