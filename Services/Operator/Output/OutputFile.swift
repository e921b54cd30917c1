import Glibc

/// A file that a command writes.
enum OutputFile {
    /// Whether there is a file, a link or anything else.
    ///
    /// - Parameter path: `-` for standard output, which does not count.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return path != "-" && lstat(path, &status) == 0
    }

    /// Writes a text. A file that exists is replaced when the new one is complete.
    ///
    /// - Parameter path: `-` for standard output.
    /// - Throws: ``InputFailure`` with the path and the system's reason.
    static func write(_ text: String, to path: String) throws {
        guard path != "-" else {
            fflush(nil)
            return try write(text, STDOUT_FILENO, path: "standard output")
        }
        let part = "\(path).\(getpid())"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(path) }
        do {
            defer { close(descriptor) }
            try write(text, descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw failure(path) }
        } catch {
            unlink(part)
            throw error
        }
        guard rename(part, path) == 0 else {
            let failure = failure(path)
            unlink(part)
            throw failure
        }
    }

    private static func write(_ text: String, _ descriptor: Int32, path: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ path: String) -> InputFailure {
        InputFailure(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
