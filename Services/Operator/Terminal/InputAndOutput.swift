import FoundationEssentials
import Glibc
import ServiceKit
import Synchronization

/// A text that a command reads from a file or from standard input.
enum InputText {
    /// Without a byte order mark at its start, which editors of Windows write.
    ///
    /// - Parameter file: A path; `-` for standard input.
    /// - Throws: ``InputFailure``.
    static func read(_ file: String, maxBytes: Int) throws -> String {
        let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InputFailure(description: "it cannot be read: \(String(cString: strerror(errno)))") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes = [UInt8](), buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputFailure(description: "it cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= maxBytes else { throw InputFailure(description: "it has more than \(maxBytes) bytes") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InputFailure(description: "it is not UTF-8; spreadsheets can save CSV as UTF-8")
        }
        return String(text.trimmingPrefix("\u{FEFF}"))
    }
}

/// Why a text could not be read or written.
struct InputFailure: Error, CustomStringConvertible {
    let description: String
}

/// A file that a command writes.
enum OutputFile {
    /// Whether there is a regular file that ``write(_:to:)`` would replace. A device or a pipe is written to, and loses nothing.
    ///
    /// - Parameter path: `-` for standard output, which does not count, also under another name.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return path != "-" && stat(path, &status) == 0 && isRegular(status) && !isStandardOutput(status)
    }

    /// Writes a text. A regular file that exists is replaced when the new one is complete, at the end of its links. Anything else that
    /// exists, such as a pipe, is written to.
    ///
    /// - Parameter path: `-` for standard output.
    /// - Throws: ``InputFailure`` with the path and the system's reason.
    static func write(_ text: String, to path: String) throws {
        var status = stat()
        let exists = path != "-" && stat(path, &status) == 0
        guard path != "-", !exists || !isStandardOutput(status) else {
            fflush(nil)
            // A file gets the bytes of others as they are, a terminal does not.
            return try write(isatty(STDOUT_FILENO) == 1 ? text.terminalText : text, STDOUT_FILENO, path: "standard output")
        }
        guard !exists || isRegular(status) else { return try writeInPlace(text, to: path, flags: 0) }
        // A link to a file that does not exist yet.
        guard exists || lstat(path, &status) != 0 else { return try writeInPlace(text, to: path, flags: O_CREAT) }
        try replace(exists ? realPath(path) : path, with: text, path: path)
    }

    private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    /// Whether it is the file that standard output goes to, such as `/dev/stdout`.
    private static func isStandardOutput(_ status: stat) -> Bool {
        var output = stat()
        return fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == status.st_dev && output.st_ino == status.st_ino
    }

    /// The path of a file that exists, without links.
    private static func realPath(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else { throw failure(path) }
        defer { free(real) }
        return String(cString: real)
    }

    /// - Parameter flags: Further flags of open(2).
    private static func writeInPlace(_ text: String, to path: String, flags: Int32) throws {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o666)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        try write(text, descriptor, path: path)
    }

    /// - Parameters:
    ///   - file: The file, without links.
    ///   - path: Its name in errors.
    private static func replace(_ file: String, with text: String, path: String) throws {
        let part = "\(file).\(getpid())"
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
        guard rename(part, file) == 0 else {
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

/// The progress of long work, in one line of the terminal that each report replaces. Nothing is shown if standard error is no terminal.
final class ProgressLine: Sendable {
    private static let interval = Duration.milliseconds(100)

    private let isShown = isatty(STDERR_FILENO) == 1
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func show(_ text: String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let isDue = last.withLock { last in
            if let last, now - last < Self.interval { return false }
            last = now
            return true
        }
        guard isDue else { return }
        StandardError.write(control: "\r\u{1b}[K")
        StandardError.write(text)
    }

    /// - Parameter part: From 0 to 1.
    func show(_ text: String, _ part: Double) {
        show("\(text): \(Int(part * 100)) %")
    }

    /// Removes the line, for the text that follows.
    func clear() {
        guard isShown, last.withLock({ $0 }) != nil else { return }
        StandardError.write(control: "\r\u{1b}[K")
    }
}
