package import Base

/// How full a store is, relative to the operator's limit and to its disk. Pure.
///
/// A twentieth of the limit is a reserve, and so is ``DiskSpace/reserve``. While only the reserve is left, new documents are
/// refused, and everything else works.
package struct StorageLevel: Sendable {
    package enum Mark: Int, Comparable, Sendable {
        case fine
        /// Nine tenths are used.
        case nearlyFull
        /// Only the reserve is left.
        case full

        package static func < (left: Mark, right: Mark) -> Bool { left.rawValue < right.rawValue }

        /// The mark after a measurement. Hysteresis keeps a store at a threshold from switching back and forth.
        fileprivate func next(_ share: Double) -> Mark {
            if share >= (self == .full ? 0.94 : 0.95) { return .full }
            return share >= (self == .fine ? 0.9 : 0.85) ? .nearlyFull : .fine
        }
    }

    /// The operator's limit in bytes; `nil` for the whole disk.
    package var limit: Int64?
    package private(set) var bytes: Int64 = 0
    package private(set) var disk: DiskSpace?
    package private(set) var limitMark = Mark.fine
    package private(set) var diskMark = Mark.fine

    package init(limit: Int64?) {
        self.limit = limit
    }

    package var mark: Mark { max(limitMark, diskMark) }

    /// How much of the room without the reserve is used: from 90 on it is nearly full, at 100 new documents are refused. The last
    /// tenth counts double, since half of it is the reserve.
    package var percent: Int {
        guard mark != .full else { return 100 }
        let share = max(shareOfLimit, shareOfDisk)
        // Of a large disk only its last few gigabytes count for the share.
        let shown = share < 0.9 ? max(share, min(disk?.used ?? 0, 0.89)) : 0.9 + (share - 0.9) * 2
        return Int(min(max(shown, 0), 0.99) * 100)
    }

    /// Whether the limit, and not the disk, decides how full it is.
    package var isBoundByLimit: Bool { limit != nil && shareOfLimit >= shareOfDisk }

    /// A new measurement.
    ///
    /// - Returns: The mark, if it has changed.
    package mutating func measured(_ bytes: Int64, on disk: DiskSpace?) -> Mark? {
        let old = mark
        self.bytes = bytes
        self.disk = disk
        limitMark = limitMark.next(shareOfLimit)
        diskMark = diskMark.next(shareOfDisk)
        return mark == old ? nil : mark
    }

    private var shareOfLimit: Double {
        limit.map { Double(bytes) / Double($0) } ?? 0
    }

    private var shareOfDisk: Double { disk?.usedShare ?? 0 }
}

extension DiskSpace {
    /// The used share of the whole disk.
    fileprivate var used: Double { total > 0 ? 1 - Double(free) / Double(total) : 0 }
}
