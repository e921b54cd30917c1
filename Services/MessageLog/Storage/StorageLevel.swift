/// How full the archive is, measured against the size that the operator allows it. Pure.
struct StorageLevel: Sendable {
    enum Mark: Int, Comparable, Sendable {
        case fine
        /// 90 % or more.
        case nearlyFull
        /// 100 % or more: nothing new is taken.
        case full

        static func < (left: Mark, right: Mark) -> Bool { left.rawValue < right.rawValue }
    }

    /// The most bytes.
    let limit: Int64
    private(set) var bytes: Int64 = 0
    private(set) var mark = Mark.fine

    init(limit: Int64) {
        self.limit = limit
    }

    var percent: Int { Int(Double(bytes) / Double(limit) * 100) }

    /// A new measurement.
    ///
    /// - Returns: The mark, where it is another one than before. Back at fine counts below 85 % only, so that an archive at the
    ///   brink does not go to and fro.
    mutating func measured(_ bytes: Int64) -> Mark? {
        self.bytes = bytes
        let share = Double(bytes) / Double(limit)
        let new: Mark = share >= 1 ? .full : share >= 0.9 ? .nearlyFull : mark == .fine || share < 0.85 ? .fine : .nearlyFull
        guard new != mark else { return nil }
        mark = new
        return new
    }
}
