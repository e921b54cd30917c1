import FoundationEssentials
import Glibc
import SystemPackage

/// The log file of a child. Above a maximum size its content is copied to `<name>.log.1`, and the file is emptied. Lines that are
/// written in that moment are lost.
struct LogFile: Sendable {
    static let maxBytes: Int64 = 16 * 1_024 * 1_024

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

    /// Opens the file for a child, for appending, so that emptying it leaves no hole.
    ///
    /// The open file is locked. The child holds the lock until it ends, even if this process has ended before: see ``isInUse``.
    func open() throws -> FileDescriptor {
        let file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.append, .create, .closeOnExec],
            permissions: [.ownerReadWrite])
        // On a file system without locks, a start does not wait for the children of a killed supervisor.
        _ = flock(file.rawValue, LOCK_SH | LOCK_NB)
        return file
    }

    /// Whether a child still has the file open.
    var isInUse: Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Moves the content to `<name>.log.1` if it is too large. The child keeps writing to the same file.
    func trim() throws {
        guard size > Self.maxBytes else { return }
        if FileManager.default.fileExists(atPath: path + ".1") { try FileManager.default.removeItem(atPath: path + ".1") }
        try FileManager.default.copyItem(atPath: path, toPath: path + ".1")
        guard truncate(path, 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// The size in bytes; 0 if the file does not exist.
    var size: Int64 {
        var information = stat()
        return stat(path, &information) == 0 ? Int64(information.st_size) : 0
    }

    /// The last lines after a position in the file that are not blank.
    func tail(_ count: Int, after size: Int64) -> [String] {
        guard let contents = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        // The file is shorter if it was emptied since.
        let new = contents.count < size ? contents : contents.dropFirst(Int(size))
        let end = new.suffix(64 * 1_024)
        // The beginning of the first line is missing.
        let lines = String(decoding: end, as: UTF8.self).split(separator: "\n").dropFirst(end.count < new.count ? 1 : 0)
        return lines.filter { !$0.allSatisfy(\.isWhitespace) }.suffix(count).map(String.init)
    }
}

extension LogFile {
    private static let maxLines = 200
    private static let maxLength = 500

    /// What the log says about the end of the process: its last error or what it has written in another form, such as the text of a
    /// crash or of an invalid setting; otherwise its last warning, otherwise its last line.
    ///
    /// A process that a signal has ended could log nothing more: only what the runtime or a library has written about the crash counts.
    ///
    /// - Parameters:
    ///   - size: The size of the file when the process was started.
    ///   - bySignal: Whether a signal has ended the process.
    /// - Returns: One line; `nil` if the process has logged nothing about its end.
    func ending(after size: Int64, bySignal: Bool) -> String? {
        var (warning, last): (String?, String?)
        for line in tail(Self.maxLines, after: size).reversed() {
            guard let record = LogRecord(line: line) else { return shown(line) }
            if bySignal { continue }
            if ["critical", "error"].contains(record.level) { return shown(record.text) }
            if record.level == "warning", warning == nil { warning = record.text }
            if last == nil { last = record.text }
        }
        return (warning ?? last).map(shown)
    }

    /// The last lines after a position in the file, as a person reads them.
    func readableTail(_ count: Int, after size: Int64) -> [String] {
        tail(count, after: size).map { line in shown(LogRecord(line: line).map { "\($0.level): \($0.text)" } ?? line) }
    }

    private func shown(_ text: String) -> String {
        let prefix = "\(name): "
        return (text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text).onOneLine(maxLength: Self.maxLength)
    }
}
