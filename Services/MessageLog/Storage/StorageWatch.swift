import DedicatedThread
import DurableFiles
import Logging
import MessageStorage
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Watches the size of the archive and the free space of its disk. It warns when space is low, and refuses new messages while
/// there is still room for changes of accepted ones, so that those are still relayed.
final class StorageWatch: Service {
    /// How often the size is read.
    private static let period = Duration.seconds(1)

    private let store: any MessageStore
    private let limit: LiveSetting<Int64?>
    private let level: Mutex<StorageLevel>
    private let logger: Logger

    init(store: any MessageStore, limit: LiveSetting<Int64?>, logger: Logger) {
        self.store = store
        self.limit = limit
        level = Mutex(StorageLevel(limit: limit.value))
        self.logger = logger
    }

    /// Checks whether a message or a push may be stored.
    ///
    /// - Returns: `nil` if it may. If there is no room, the item that is stored under the same keys already.
    /// - Throws: ``CommandFailure`` with status `storage_full` if there is no room and no such item.
    func admit(_ item: OutboxItem) async throws -> OutboxItem? {
        guard let full = level.withLock({ $0.mark == .full ? $0 : nil }) else { return nil }
        guard let known = try await store.stored(item) else { throw CommandFailure(.storageFull, full.refusal) }
        return known
    }

    /// Checks whether something else may be stored.
    ///
    /// - Throws: ``CommandFailure`` with status `storage_full` if there is no room.
    func requireRoom() throws(CommandFailure) {
        guard let full = level.withLock({ $0.mark == .full ? $0 : nil }) else { return }
        throw CommandFailure(.storageFull, full.refusal)
    }

    /// The part ``ServiceHealth/storage`` from 90 % on, and ``ServiceHealth/store`` while new messages are refused.
    var health: [String: PartHealth] {
        let level = level.withLock(\.self)
        guard level.mark != .fine else { return [:] }
        var parts = [ServiceHealth.storage: PartHealth(.storageFull, level.usage)]
        if level.mark == .full { parts[ServiceHealth.store] = PartHealth(.storageFull, level.refusal) }
        return parts
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    await self.measure()
                    try await Task.sleep(untilNext: Self.period)
                }
            }
        } catch is CancellationError {
            // The watch ends with the service.
        }
    }

    private func measure() async {
        let (bytes, disk): (Int64, DiskSpace?)
        do {
            (bytes, disk) = try await (store.size(), store.diskSpace())
        } catch {
            // The next insert gets the error as well, and logs it.
            logger.debug("the archive's size cannot be read", metadata: ["error": "\(error)"])
            return
        }
        let limit = limit.value
        let measured = level.withLock { level in
            level.limit = limit
            return level.measured(bytes, on: disk).map { (mark: $0, level: level) }
        }
        guard let change = measured else { return }
        var figures: Logger.Metadata = ["bytes": "\(change.level.bytes)", "percent": "\(change.level.percent)"]
        if let limit = change.level.limit { figures["limit"] = "\(limit)" }
        if let disk { figures["free"] = "\(disk.free)" }
        switch change.mark {
        case .fine: logger.info("the archive has room again", metadata: figures)
        case .nearlyFull: logger.warning("the archive is nearly full", metadata: figures)
        case .full: logger.error("the archive is full: new messages are refused", metadata: figures)
        }
    }
}

extension MessageStore {
    /// The item that is stored under the same keys, if there is one.
    func stored(_ item: OutboxItem) async throws -> OutboxItem? {
        switch item {
        case .message(let message):
            if let known = try await self.message(message.msiKey) { return .message(known) }
            guard let key = message.idempotencyKey else { return nil }
            return try await self.message(of: message.sender, idempotencyKey: key).map(OutboxItem.message)
        case .push(let push):
            return try await self.push(of: push.sender, idempotencyKey: push.idempotencyKey).map(OutboxItem.push)
        }
    }
}
