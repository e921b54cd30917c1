import Glibc

/// Tells a file from another one that has replaced it. Its number alone does not: a later file can have it again.
struct FileStamp: Hashable, Sendable {
    private let number: UInt64
    private let seconds: Int
    private let nanoseconds: Int

    /// `nil` if there is no such file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        number = UInt64(status.st_ino)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
