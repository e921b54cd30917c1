import Glibc
import Schemas

/// Reads a new password: from the terminal, where it is not shown, or else the first line of standard input. It is never an
/// argument, because every user of the machine can see a process's arguments.
enum TypedPassword {
    /// The longest line.
    private static let maxBytes = 4_096

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: ``Failure``.
    static func read(for account: AccountName) throws(Failure) -> Secret {
        guard isatty(STDIN_FILENO) == 1 else {
            guard let line = line() else { throw Failure(description: "there is no password on standard input") }
            return line
        }
        guard let first = typed("New password of \(account): "), let second = typed("Again: ") else {
            throw Failure(description: "no password was typed")
        }
        guard first == second else { throw Failure(description: "the two passwords differ") }
        return first
    }

    /// Asks on the terminal, and shows nothing of the answer.
    ///
    /// - Returns: `nil` after Ctrl-C, or at the end of the input.
    private static func typed(_ prompt: String) -> Secret? {
        var original = termios()
        guard tcgetattr(STDIN_FILENO, &original) == 0 else { return nil }
        var quiet = original
        // Ctrl-C must not end the process before the terminal is restored.
        quiet.c_lflag &= ~tcflag_t(ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &original)
            print("")
        }
        // Only after the change, which discards what was typed before: nothing of the answer is shown or lost.
        print(prompt, terminator: "")
        fflush(nil)
        guard let line = line(), !line.text.utf8.contains(3) else { return nil }
        return line
    }

    /// A line of standard input without its end.
    private static func line() -> Secret? {
        var bytes: [UInt8] = []
        while bytes.count < maxBytes {
            var byte: UInt8 = 0
            let count = Glibc.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes.isEmpty ? nil : Secret(String(decoding: bytes, as: UTF8.self)) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Secret(String(decoding: bytes, as: UTF8.self))
    }
}
