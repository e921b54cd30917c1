import DurableFiles
import Glibc
import Schemas

/// The files of one database.
struct DatabaseFiles: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The bytes of the write-ahead log. SQLite keeps the file when what is in it has been written to the database's own.
    var logSize: Int64 {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }

    var diskSpace: DiskSpace {
        get throws { try DiskSpace(of: path) }
    }

    /// Lets only their owner read and write them: makes the database's file like that where there is none, and takes the others'
    /// rights from files that are there.
    ///
    /// - Throws: ``CommandFailure`` for a file of another user that others may read.
    func makePrivate() throws(CommandFailure) {
        // SQLite gives `-wal` and `-shm` the mode of this one.
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
        for path in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            guard chmod(path, status.st_mode & 0o700) == 0 else {
                let reason = String(cString: strerror(errno))
                let mode = String(status.st_mode & 0o777, radix: 8)
                throw CommandFailure(
                    .unavailable, "others may read \(path), mode \(mode), and it cannot be changed to 600: \(reason)")
            }
        }
    }
}
