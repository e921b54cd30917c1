import DurableFiles

/// How full the archive is, measured against the size that the operator allows it and against its disk. Pure.
struct StorageLevel: Sendable {
    enum Mark: Int, Comparable, Sendable {
        case fine
        /// 90 % or more.
        case nearlyFull
        /// 95 % or more: nothing new is taken. What is left is for the messages that were accepted before.
        case full

        static func < (left: Mark, right: Mark) -> Bool { left.rawValue < right.rawValue }
    }

    /// The most bytes that the operator allows; `nil` for as many as the disk has.
    let limit: Int64?
    private(set) var bytes: Int64 = 0
    private(set) var disk: DiskSpace?
    private(set) var mark = Mark.fine

    init(limit: Int64?) {
        self.limit = limit
    }

    /// How full it is, of the limit or of the disk, whatever is fuller.
    var percent: Int { Int(share * 100) }

    /// Why nothing new is taken.
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
    /// - Returns: The mark, where it is another one than before. A mark is left only somewhat below the share at which it is set, so
    ///   that an archive at the brink does not go to and fro.
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

    /// As of a disk of which the reserve is a twentieth.
    private var shareOfDisk: Double {
        disk.map { 1 - Double($0.free) / (20 * Double($0.reserve)) } ?? 0
    }
}
