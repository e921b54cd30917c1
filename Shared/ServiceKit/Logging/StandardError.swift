import Glibc

/// The process's standard error, without C's buffered streams.
package enum StandardError {
    /// Writes the whole text, which may be of others: nothing in it controls a terminal. A failure, for example because the reader has
    /// gone, cannot be reported anywhere.
    ///
    /// Log lines from before come before it.
    package static func write(_ text: String) { write(bytesOf: text.terminalText) }

    /// Writes what controls the terminal.
    package static func write(control text: String) { write(bytesOf: text) }

    private static func write(bytesOf text: String) {
        LineWriter.standardError.flush(evenIfHanging: false)
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }
}
