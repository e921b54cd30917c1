import DurableFiles

/// How full the archive is, relative to the operator's limit and to its disk. Pure.
struct StorageLevel: Sendable {
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
