import FoundationEssentials
import Glibc

/// The folder with the emulator's identity: its certificate authority, its service account and its keys.
struct StateFolder: Sendable {
    let path: String

    /// Creates the folder if it does not exist.
    ///
    /// - Throws: ``StateFileError``.
    init(path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StateFileError(path: path, problem: "the folder cannot be made: \(error)")
        }
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// A file's bytes, or `nil` if it does not exist.
    ///
    /// - Throws: ``StateFileError`` for a file that exists and cannot be read.
    func read(_ name: String) throws -> [UInt8]? {
        let descriptor = open(path(of: name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(name, "cannot be opened")
        }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                content += buffer[..<count]
            } else if count == 0 {
                return content
            } else if errno != EINTR {
                throw failure(name, "cannot be read")
            }
        }
    }

    /// Replaces a file atomically: readers see the old bytes or the new ones.
    ///
    /// - Parameter mode: The file's permissions; it never exists with others.
    /// - Throws: ``StateFileError``.
    func write(_ content: some Sequence<UInt8>, to name: String, mode: mode_t) throws {
        let temporary = path(of: ".\(name).\(getpid())")
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(name, "cannot be written") }
        defer { close(descriptor) }
        var rest = Array(content)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR {
                unlink(temporary)
                throw failure(name, "cannot be written")
            }
            rest = rest.dropFirst(max(0, count))
        }
        guard fsync(descriptor) == 0, rename(temporary, path(of: name)) == 0 else {
            unlink(temporary)
            throw failure(name, "cannot be written")
        }
    }

    /// An error about one of the files, with the text of `errno`.
    private func failure(_ name: String, _ problem: String) -> StateFileError {
        StateFileError(path: path(of: name), problem: "\(problem): \(String(cString: strerror(errno)))")
    }
}

/// A file of the state folder that the emulator cannot use. The emulator never replaces it by itself: clients that trust the old
/// certificate or account would lose their connection without notice.
struct StateFileError: Error, Hashable, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "\(path): \(problem)" }
}

extension StateFileError {
    /// A file with invalid content.
    static func damaged(_ path: String, _ problem: String) -> StateFileError {
        StateFileError(path: path, problem: "\(problem). Restore the file, or remove the folder's files to start with new ones")
    }
}
