package import Base
import CoreMetrics
import Instruments
package import Logging
package import Schemas
import Synchronization

/// The room of a store: it refuses what has no room, and says how full the store is. Each measurement that crosses a mark is a
/// line in the log.
package final class StoreRoom: Sendable {
    /// What the store is, in the log and in failures.
    package struct Words: Sendable {
        /// The store's name in ``StoreUsage``.
        let name: String
        /// Such as "the archive".
        let store: String
        /// What is refused, such as "new messages".
        let refused: String
        /// What the reserve is for.
        let reserve: String

        package init(name: String, store: String, refused: String, reserve: String) {
            self.name = name
            self.store = store
            self.refused = refused
            self.reserve = reserve
        }

        /// Of a store of collections.
        init(_ declaration: StoreDeclaration) {
            self.init(
                name: declaration.name, store: "the store \(declaration.name)", refused: "new documents",
                reserve: "what was accepted before, and for deletions")
        }
    }

    private let words: Words
    private let limit: @Sendable () -> Int64?
    private let refusesByDisk: Bool
    private let level: Mutex<StorageLevel>
    private let logger: Logger

    /// - Parameters:
    ///   - limit: The operator's limit in bytes, which may change; `nil` for the whole disk.
    ///   - refusesByDisk: Whether a full disk is a reason to refuse. SQLite's writes look at their disk themselves.
    package init(
        _ words: Words, limit: @escaping @Sendable () -> Int64?, refusesByDisk: Bool = true, logger: Logger
    ) {
        self.words = words
        self.limit = limit
        self.refusesByDisk = refusesByDisk
        level = Mutex(StorageLevel(limit: limit()))
        self.logger = logger
    }

    /// A new measurement.
    package func measured(_ bytes: Int64, on disk: DiskSpace?) {
        let limit = limit()
        let change = level.withLock { level in
            level.limit = limit
            return level.measured(bytes, on: disk).map { (mark: $0, level: level) }
        }
        Instrument.storeBytes.gauge(["store": words.name]).set(bytes)
        Instrument.storeLimit.gauge(["store": words.name]).set(limit ?? 0)
        guard let change else { return }
        var figures: Logger.Metadata = ["bytes": "\(bytes)", "percent": "\(change.level.percent)"]
        if let limit { figures["limit"] = "\(limit)" }
        if let disk { figures["free"] = "\(disk.free)" }
        switch change.mark {
        case .fine: logger.info("\(words.store) has room again", metadata: figures)
        case .nearlyFull: logger.warning("\(words.store) is nearly full", metadata: figures)
        case .full: logger.error("\(words.store) is full: \(words.refused) are refused", metadata: figures)
        }
    }

    /// Whether nine tenths of the room are used.
    package var isNearlyFull: Bool { level.withLock { $0.mark != .fine } }

    package var usage: StoreUsage {
        let level = level.withLock(\.self)
        return StoreUsage(
            name: words.name, bytes: level.bytes, limit: level.limit, free: level.disk?.free, percent: level.percent)
    }

    /// As ``CheckedStore/storageHealth``.
    package var storageHealth: PartHealth {
        let level = level.withLock(\.self)
        guard level.mark != .fine else { return .ok }
        return PartHealth(
            .storageFull,
            "\(level.percent) % of the room of \(words.store) are used (\(level.isBoundByLimit ? "its limit" : "its disk")); "
                + "at 100 % \(words.refused) are refused")
    }

    /// Why nothing new may be stored; `nil` if it may.
    package var refusal: CommandFailure? {
        let level = level.withLock(\.self)
        if level.limitMark == .full, let limit = level.limit {
            return CommandFailure(
                .storageFull,
                "\(words.store) takes up \(level.bytes) bytes, and may have \(limit), of which a twentieth is kept for "
                    + "\(words.reserve); \(words.refused) are refused")
        }
        guard refusesByDisk, level.diskMark == .full, let disk = level.disk else { return nil }
        return CommandFailure(
            .storageFull,
            "the disk of \(words.store) has \(disk.free) bytes free, and \(disk.reserve) are kept for \(words.reserve); "
                + "\(words.refused) are refused")
    }

    /// - Throws: ``CommandFailure`` with status `storage_full`.
    package func require() throws(CommandFailure) {
        if let refusal { throw refusal }
    }
}
