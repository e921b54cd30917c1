import FoundationEssentials
import Glibc
import Logging
import Synchronization

/// Sends log events to systemd's journal with a field for each key, so that `journalctl MSI_TRACE_ID=…` finds them.
///
/// It never waits for the journal. While the journal is too slow, its socket is full, and events are dropped: waiting would stop the
/// service. They are counted, and the next event that it takes follows a line with their number. What it cannot take for another
/// reason goes as a line to the stream that is the service's standard error, and ends up in the journal as well. If that stream is full,
/// the event is dropped and counted too.
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
            time: Date(), level: .warning, service: service, message: "log lines were dropped: the journal did not take them",
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
