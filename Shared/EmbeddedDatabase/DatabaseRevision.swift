import Glibc

/// What changes with each commit to a database, of this process or another one. Two readings are equal if the database has the same
/// content, except for a commit of another process within the same tick of the file system's clock.
package struct DatabaseRevision: Hashable, Sendable {
    /// The number of this process's commits.
    let commits: Int
    let file: FileStamp?
    let log: FileStamp?
}

/// The size of a file, and when it was last written.
struct FileStamp: Hashable, Sendable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Asks the system, which has the answer in memory for an open file.
    ///
    /// - Returns: `nil` if there is no such file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
