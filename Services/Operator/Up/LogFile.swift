import FoundationEssentials
import Glibc
import SystemPackage

/// The file that a child writes its log to. It is kept from growing without end: beyond a size, what is in it is copied to
/// `<name>.log.1` and it begins anew; lines that are written in that moment are lost.
struct LogFile: Sendable {
    static let longest: Int64 = 16 * 1_024 * 1_024

    /// The child's name.
    let name: String
    let path: String

    init(directory: String, name: String) throws {
        self.name = name
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartFailure(description: "the log directory \(directory) cannot be made: \(error)")
        }
        path = "\(directory)/\(name).log"
    }

    /// Opens it for a child. Everybody appends, so that emptying it leaves no hole.
    ///
    /// The open file is locked, and a child that has it holds the lock until it ends, also when this process has ended before:
    /// see ``isInUse``.
    func open() throws -> FileDescriptor {
        let file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.append, .create, .closeOnExec],
            permissions: [.ownerReadWrite])
        // Where a file system has no locks, a start does not wait for the children of a killed supervisor.
        _ = flock(file.rawValue, LOCK_SH | LOCK_NB)
        return file
    }

    /// Whether a child still has it.
    var isInUse: Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Moves what is in it aside if it has become too long. The child goes on writing to the same file.
    func trim() throws {
        guard size > Self.longest else { return }
        if FileManager.default.fileExists(atPath: path + ".1") { try FileManager.default.removeItem(atPath: path + ".1") }
        try FileManager.default.copyItem(atPath: path, toPath: path + ".1")
        guard truncate(path, 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// In bytes; 0 where there is none.
    var size: Int64 {
        var information = stat()
        return stat(path, &information) == 0 ? Int64(information.st_size) : 0
    }

    /// The last lines of what was written after the file had a size.
    func tail(_ count: Int, after size: Int64) -> [String] {
        guard let contents = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        let new = contents.dropFirst(Int(size)).suffix(64 * 1_024)
        return String(decoding: new, as: UTF8.self).split(separator: "\n").suffix(count).map(String.init)
    }
}
