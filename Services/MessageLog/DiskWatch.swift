import Base
import Logging
import Archive
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Watches the size of the archive and the free space of its disk. It warns when space is low, and refuses new messages while
/// there is still room for changes of accepted ones, so that those are still relayed.
final class DiskWatch: Service {
    /// How often the size is read.
    private static let period = Duration.seconds(1)

    private let store: any MessageStore
    private let limit: LiveSetting<Int64?>
    private let level: Mutex<DiskLevel>
    private let logger: Logger

    init(store: any MessageStore, limit: LiveSetting<Int64?>, logger: Logger) {
        self.store = store
        self.limit = limit
        level = Mutex(DiskLevel(limit: limit.value))
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
        // The next insert gets the error as well, and logs it.
        let outage = OutageLog("the archive's size cannot be read", logger: logger) { _ in true }
        await RepeatingService(every: Self.period, outage: outage) { try await self.measure() }.run()
    }

    private func measure() async throws {
        let (bytes, disk) = try await (store.size(), store.diskSpace())
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

/// How full the archive is, relative to the operator's limit and to its disk. Pure.
struct DiskLevel: Sendable {
    enum Mark: Int, Comparable, Sendable {
        case fine
        /// 90 % or more.
        case nearlyFull
        /// 95 % or more: new messages are refused. The rest is for accepted ones.
        case full

        static func < (left: Mark, right: Mark) -> Bool { left.rawValue < right.rawValue }
    }

    /// The operator's limit in bytes; `nil` for the whole disk.
    var limit: Int64?
    private(set) var bytes: Int64 = 0
    private(set) var disk: DiskSpace?
    private(set) var mark = Mark.fine

    init(limit: Int64?) {
        self.limit = limit
    }

    /// How full the limit or the disk is, the larger of the two.
    var percent: Int { Int(share * 100) }

    /// One sentence on how full it is.
    var usage: String {
        "\(percent) % of the archive's room are used (\(shareOfLimit >= shareOfDisk ? "MSI_MESSAGE_LOG_STORAGE_LIMIT" : "its disk")); "
            + "new messages are refused from 95 % on"
    }

    /// Why new messages are refused.
    var refusal: String {
        if let limit, shareOfLimit >= shareOfDisk {
            return
                "the archive takes up \(bytes) bytes, and may have \(limit), of which a twentieth is kept for messages that were "
                + "accepted before; no new message is taken"
        }
        return
            "the archive's disk has \(disk?.free ?? 0) bytes free, and \(disk?.reserve ?? 0) are kept for messages that were accepted "
            + "before; no new message is taken"
    }

    /// A new measurement.
    ///
    /// - Returns: The mark, if it has changed. Hysteresis keeps an archive at a threshold from switching back and forth.
    mutating func measured(_ bytes: Int64, on disk: DiskSpace?) -> Mark? {
        self.bytes = bytes
        self.disk = disk
        let isFull = share >= (mark == .full ? 0.94 : 0.95)
        let isNearlyFull = share >= (mark == .fine ? 0.9 : 0.85)
        let new: Mark = isFull ? .full : isNearlyFull ? .nearlyFull : .fine
        guard new != mark else { return nil }
        mark = new
        return new
    }

    private var share: Double { max(shareOfLimit, shareOfDisk) }

    private var shareOfLimit: Double {
        limit.map { Double(bytes) / Double($0) } ?? 0
    }

    private var shareOfDisk: Double { disk?.usedShare ?? 0 }
}
