import Glibc

/// The process's standard error, without C's buffered streams.
package enum StandardError {
    /// Writes the whole text. A failure, for example because the reader has gone, cannot be reported anywhere.
    package static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }
}
