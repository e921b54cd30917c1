import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import Subprocess
import Base

/// Prints a text that may be of others, such as a name in the cube: nothing in it controls the terminal. In this module it takes the
/// place of Swift's function.
func print(_ text: some CustomStringConvertible, terminator: String = "\n") {
    Swift.print(text.description.terminalText, terminator: terminator)
}

extension String {
    /// The text without characters that control a terminal or the direction of what follows, which must not reach it from a foreign
    /// text.
    var withoutControlCharacters: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isUnsafeInLine }))
    }

    /// The text with a full stop, unless it ends like a sentence already.
    var asSentence: String { last.map { ".?!".contains($0) } ?? true ? self : self + "." }

    /// The text in one line, with spaces for its line breaks, and shortened.
    func onOneLine(maxLength: Int) -> String {
        let line = split(whereSeparator: \.isNewline).joined(separator: " ").withoutControlCharacters
        return line.count > maxLength ? line.prefix(maxLength) + "…" : line
    }

    /// The text as one word of a shell's command: in quotes if it has spaces or characters with a meaning for the shell.
    var shellQuoted: String {
        let isPlain = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "_@%+=:,./-".contains($0) }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }

    /// The text with everything encoded except the unreserved characters of RFC 3986.
    var percentEncoded: String {
        utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isUnreserved = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isUnreserved ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension Milliseconds {
    /// For a person: `90 s`, `30 min`, `5 h` or `3 d`. A negative time is `0 s`.
    var rounded: String {
        let seconds = Swift.max(0, rawValue / 1_000)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

extension UnixMilliseconds {
    /// ISO 8601 in UTC, without the fraction of the second.
    var inUTC: String { Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle()) }
}

extension TerminationStatus {
    /// How the process ended, for a sentence after its name: `exited with status 1`, `was ended by signal 9 (SIGKILL)`.
    var text: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .signaled(let number): "was ended by signal \(number)" + (Self.signals[number].map { " (\($0))" } ?? "")
        }
    }

    var isSignal: Bool { if case .signaled = self { true } else { false } }

    /// The names of the signals that end programs.
    private static let signals = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
        SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2",
        SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]
}
