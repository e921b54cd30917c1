import Glibc

/// A disk's free and total space.
package struct DiskSpace: Hashable, Sendable {
    /// The space that this process may still use, in bytes.
    package let free: Int64
    package let total: Int64

    package init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }

    /// The disk of a file or folder.
    package init(of path: String) throws(DurableFileFailure) {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { throw DurableFileFailure("the free space at \(path) cannot be read") }
        free = Int64(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize))
        total = Int64(clamping: UInt64(space.f_blocks) * UInt64(space.f_frsize))
    }

    /// The space that new documents must leave free, so that stored documents can still be changed: a twentieth, but at least
    /// 8 MiB, the size of two databases' write-ahead logs, and at most 256 MiB.
    package var reserve: Int64 { min(max(total / 20, 8 << 20), 256 << 20) }

    /// The used share, scaled so that the reserve is a twentieth: from 0.95 on, new documents are refused.
    package var usedShare: Double { 1 - Double(free) / (20 * Double(reserve)) }
}
