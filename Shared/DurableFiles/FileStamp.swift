import Glibc

/// Tells a file from another one that has replaced it, and from itself before it was written again. Its number alone does not: a later file
/// can have it again.
package struct FileStamp: Hashable, Sendable {
    private let number: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Asks the system, which has the answer in memory for an open file.
    ///
    /// - Returns: `nil` if there is no such file.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
