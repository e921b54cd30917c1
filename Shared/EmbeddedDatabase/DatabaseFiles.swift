import DurableFiles
import Glibc
import Schemas

/// The files of one database.
struct DatabaseFiles: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The size of the write-ahead log in bytes. SQLite keeps the file after a checkpoint.
    var logSize: Int64 {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The state of the database's file and of its write-ahead log.
    var stamps: (file: FileStamp?, log: FileStamp?) { (FileStamp(of: path), FileStamp(of: path + "-wal")) }

    var diskSpace: DiskSpace {
        get throws { try DiskSpace(of: path) }
    }

    /// Gives the files mode 600, and creates the database's file if it is missing.
    ///
    /// - Throws: ``CommandFailure`` if others may read a file and its mode cannot be changed.
    func makePrivate() throws(CommandFailure) {
        // SQLite creates `-wal` and `-shm` with this file's mode.
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
