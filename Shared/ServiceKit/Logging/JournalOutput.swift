import Base
import FoundationEssentials
import Glibc
import Logging
import Schemas
import Synchronization

/// Sends log events to systemd's journal with a field for each key, so that `journalctl MSI_TRACE_ID=…` finds them.
///
/// It never waits for the journal. While the journal is too slow, its socket is full, and events are dropped: waiting would stop the
/// service. They are counted, and a line with their number precedes the next event that it takes. An event that it cannot take
/// for another reason goes as a line to standard error, which the journal reads as well. If that stream is full, the event is dropped
/// and counted too.
final class JournalOutput: LogOutput {
    private static let socketPath = "/run/systemd/journal/socket"
    private static let dropped = Atomic<Int>(0)

    /// The events that this process has dropped.
    static var droppedEvents: Int { dropped.load(ordering: .relaxed) }

    private let descriptor: Int32
    private let path: String
    private let stream: JournalStream
    /// The dropped events that no line has reported.
    private let unreported = Atomic<Int>(0)

    /// - Returns: `nil` if standard error is not the journal, or there is no socket.
    static func ofStandardError(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> JournalOutput? {
        guard isJournal(STDERR_FILENO, stream: environment["JOURNAL_STREAM"]) else { return nil }
        return JournalOutput(path: socketPath, stream: JournalStream(descriptor: STDERR_FILENO))
    }

    /// Whether a descriptor is the journal's.
    ///
    /// - Parameter stream: The value of `JOURNAL_STREAM`: the device and the inode of the descriptor that the service manager has
    ///   connected to the journal (systemd.exec(5)).
    static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
        var status = stat()
        guard let stream, fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// - Parameter stream: Takes what the journal's socket cannot.
    init?(path: String, stream: JournalStream) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return nil }
        self.path = path
        self.stream = stream
    }

    deinit {
        close(descriptor)
    }

    func write(_ entry: LogEntry) {
        reportDropped(as: entry.service)
        guard !hasTaken(entry) else { return }
        Self.dropped.add(1, ordering: .relaxed)
        unreported.add(1, ordering: .relaxed)
    }

    private enum Outcome {
        case sent
        /// The journal's socket is full.
        case busy
        /// There is no journal, or the event is too large for a datagram.
        case impossible
    }

    private func reportDropped(as service: String) {
        let count = unreported.exchange(0, ordering: .relaxed)
        guard count > 0 else { return }
        let report = LogEntry(
            time: .now, level: .warning, service: service, message: "log lines were dropped: the journal did not take them",
            fields: [("lines", String(count))], file: #fileID, line: #line, function: #function)
        if !hasTaken(report) { unreported.add(count, ordering: .relaxed) }
    }

    /// Sends an event to the journal's socket, or writes it to the stream.
    private func hasTaken(_ entry: LogEntry) -> Bool {
        switch send(entry) {
        case .sent: true
        case .busy: false
        case .impossible: stream.hasTaken(entry)
        }
    }

    /// Sends to the path each time, since systemd may have made a new socket there.
    private func send(_ entry: LogEntry) -> Outcome {
        guard var address = sockaddr_un(path: path) else { return .impossible }
        let bytes = JournalEntry(entry).bytes
        while true {
            let count = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    sendto(
                        descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address,
                        socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if count >= 0 { return .sent }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .busy
            default: return .impossible
            }
        }
    }
}

/// One entry in the journal's native form: a field a line, `NAME=value`. A value with a line break follows its name's line with
/// its length (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/).
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// Foreign text must not fill the journal.
    private static let maxValueLength = 4_000
    /// journald drops fields with longer names.
    private static let maxNameLength = 64

    init(_ entry: LogEntry) {
        // The text of `journalctl` without other options, which shows no fields.
        add("MESSAGE", TextLogLine.body(of: entry))
        add("PRIORITY", String(entry.level.priority))
        add("SYSLOG_IDENTIFIER", entry.service)
        add("CODE_FILE", entry.file)
        add("CODE_LINE", String(entry.line))
        add("CODE_FUNC", entry.function)
        for (key, value) in entry.fields { add(Self.name(of: key), value) }
    }

    /// The name of a key's field: `MSI_TRACE_ID` for `trace_id`, `MSI_KEY` for `msi_key`.
    static func name(of key: String) -> String {
        let name = key.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 0x20
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let text = String(decoding: name, as: UTF8.self)
        return String((text.hasPrefix("MSI_") ? text : "MSI_" + text).prefix(maxNameLength))
    }

    private mutating func add(_ name: String, _ value: String) {
        let isShort = value.utf8.count <= Self.maxValueLength
        let value = isShort ? value : String(value.unicodeScalars.prefix(Self.maxValueLength)) + "…"
        bytes += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// The stream socket that systemd connects with a service's standard error. Its lines are JSON, and journald stores each as an entry.
///
/// A write to it never waits: a journal that hangs must not stop the service.
final class JournalStream: Sendable {
    private let descriptor: Int32
    /// Whether the last write ended within a line, because the socket was full.
    private let isInLine = Mutex(false)

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes an event as a line.
    ///
    /// - Returns: `false` if the socket is full. A part of the line may have been written.
    func hasTaken(_ entry: LogEntry) -> Bool {
        isInLine.withLock { isInLine in
            var line = JSONBytes(capacity: 512)
            // The rest of a line is lost; the next one must not continue it.
            if isInLine { line.append("\n") }
            JSONLogLine.append(entry, to: &line)
            line.append("\n")
            let bytes = line.bytes
            let count = send(bytes)
            if count > 0 { isInLine = count < bytes.count }
            return count == bytes.count
        }
    }

    /// - Returns: The number of bytes that the socket has taken.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                return sent
            }
            sent += count
        }
        return sent
    }
}
