import Glibc
import Synchronization

/// The stream socket that systemd connects with a service's standard error. Its lines are JSON, and journald stores each as an entry.
///
/// A write to it never waits: a journal that hangs must not stop the service.
final class JournalStream: Sendable {
    private let descriptor: Int32
    /// Whether the last line was taken only in part, because the socket was full.
    private let isInLine = Mutex(false)

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes an event as a line.
    ///
    /// - Returns: `false` if the socket is full. A part of the line may have been written.
    func hasTaken(_ entry: LogEntry) -> Bool {
        let line = JSONLogLine(
            time: entry.time, level: entry.level, service: entry.service, message: entry.message, fields: entry.fields)
        return isInLine.withLock { isInLine in
            // The rest of a line is lost; the next one must not continue it.
            let bytes = Array(((isInLine ? "\n" : "") + line.text + "\n").utf8)
            let count = bytes.withUnsafeBytes { send($0) }
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
