import FoundationEssentials
import Glibc
import SystemPackage

/// The file that a child writes its log to. It is kept from growing without end: beyond a size, what is in it moves to
/// `<name>.log.1` and it begins anew.
struct LogFile: Sendable {
    static let longest: Int64 = 16 * 1_024 * 1_024

    let path: String

    init(directory: String, name: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartFailure(description: "the log directory \(directory) cannot be made: \(error)")
        }
        path = "\(directory)/\(name).log"
    }

    /// Opens it for a child. Everybody appends, so that emptying it leaves no hole.
    func open() throws -> FileDescriptor {
        try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.append, .create, .closeOnExec],
            permissions: [.ownerReadWrite])
    }

    /// Moves what is in it aside if it has become too long. The child goes on writing to the same file.
    func trim() throws {
        var information = stat()
        guard stat(path, &information) == 0, information.st_size > Self.longest else { return }
        try? FileManager.default.removeItem(atPath: path + ".1")
        try FileManager.default.copyItem(atPath: path, toPath: path + ".1")
        guard truncate(path, 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Its last lines.
    func tail(_ count: Int) -> [String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").suffix(count).map(String.init)
    }
}
