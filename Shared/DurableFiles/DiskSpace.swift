import Glibc

/// How much room a disk has.
package struct DiskSpace: Hashable, Sendable {
    /// What this process may still write, in bytes.
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

    /// How much of it new documents must leave free, so that what is stored already can be changed: a twentieth, but at least
    /// 8 MiB, which is what two databases' write-ahead logs take, and at most 256 MiB.
    package var reserve: Int64 { min(max(total / 20, 8 << 20), 256 << 20) }
}
