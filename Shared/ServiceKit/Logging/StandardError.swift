import Glibc

/// The process's standard error, written to past C's buffered streams.
enum StandardError {
    /// Writes a text whole. There is nowhere to report to when that fails, as it does once the reader has gone.
    static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }
}
