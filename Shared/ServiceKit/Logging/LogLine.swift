import Base
import Glibc
package import Logging

/// The form of one log event as a line.
protocol LogLine: Sendable {
    /// Appends the line without its line break.
    static func append(_ entry: LogEntry, to line: inout JSONBytes)
}

/// `2026-11-21T10:00:00.123Z info msi-cube: started endpoint=ipc:///run/msi/cube.sock`
enum TextLogLine: LogLine {
    static func append(_ entry: LogEntry, to line: inout JSONBytes) {
        line.append(utc: entry.time)
        line.append(" ")
        line.append(characters: entry.level.rawValue)
        line.append(" ")
        line.append(characters: entry.service)
        line.append(": ")
        appendBody(of: entry, to: &line)
    }

    /// The message with the fields, on one line.
    static func body(of entry: LogEntry) -> String {
        var line = JSONBytes(capacity: 256)
        appendBody(of: entry, to: &line)
        return String(decoding: line.bytes, as: UTF8.self)
    }

    private static func appendBody(of entry: LogEntry, to line: inout JSONBytes) {
        line.append(characters: entry.message.onOneLine)
        for (key, value) in entry.fields {
            line.append(" ")
            line.append(characters: key.onOneLine)
            line.append("=")
            line.append(characters: quoted(value))
        }
    }

    /// The value, in quotes with escapes if it contains anything that could be mistaken for its end.
    private static func quoted(_ value: String) -> String {
        // Fast path: nearly every value is a word of ASCII.
        if !value.isEmpty, value.consists(of: { (0x21..<0x7f).contains($0) && !Self.needsQuotes($0) }) { return value.onOneLine }
        // By scalars, because a quote with a combining character is not the `Character` `"`.
        let scalars = value.unicodeScalars
        guard scalars.isEmpty || scalars.contains(where: { "\"\\=".unicodeScalars.contains($0) || $0.properties.isWhitespace })
        else { return value.onOneLine }
        let escaped = scalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"" + escaped.onOneLine + "\""
    }

    private static func needsQuotes(_ character: UInt8) -> Bool {
        character == UInt8(ascii: "\"") || character == UInt8(ascii: "\\") || character == UInt8(ascii: "=")
    }
}

/// `{"level":"info","message":"started","service":"msi-cube","time":"…", …}`: four fixed fields and the event's own, in the order of
/// their names. An own field with the name of a fixed one is left out.
enum JSONLogLine: LogLine {
    static func append(_ entry: LogEntry, to line: inout JSONBytes) {
        var rest = entry.fields[...]
        line.append("{")
        appendOwn(before: "level", of: &rest, to: &line)
        line.append("\"level\":")
        line.append(text: entry.level.rawValue)
        line.append(",")
        appendOwn(before: "message", of: &rest, to: &line)
        line.append("\"message\":")
        line.append(text: entry.message.onOneLine)
        line.append(",")
        appendOwn(before: "service", of: &rest, to: &line)
        line.append("\"service\":")
        line.append(text: entry.service)
        line.append(",")
        appendOwn(before: "time", of: &rest, to: &line)
        line.append("\"time\":\"")
        line.append(utc: entry.time)
        line.append("\"")
        for (key, value) in rest {
            line.append(",")
            append(key, value, to: &line)
        }
        line.append("}")
    }

    /// Appends the own fields whose names sort before that of a fixed field, each with a comma after it.
    private static func appendOwn(before name: String, of rest: inout ArraySlice<LogEntry.Field>, to line: inout JSONBytes) {
        while let (key, value) = rest.first, key <= name {
            rest.removeFirst()
            guard key != name else { continue }
            append(key, value, to: &line)
            line.append(",")
        }
    }

    private static func append(_ key: String, _ value: String, to line: inout JSONBytes) {
        line.append(text: key.onOneLine)
        line.append(":")
        line.append(text: value.onOneLine)
    }
}

extension String {
    /// The text, escaped and shortened: foreign text must not break the line, change its direction or fill the log.
    fileprivate var onOneLine: String {
        // Fast path: nearly every text is printable ASCII. Unicode's properties take longer to look up than the line to write.
        if utf8.count <= 1_000, consists(of: { (0x20..<0x7f).contains($0) }) { return self }
        let short = unicodeScalars.prefix(1_000).map { scalar in
            scalar.isUnsafeInLine ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
        return unicodeScalars.count > 1_000 ? short + "…" : short
    }

    /// Whether all bytes of the UTF-8 fulfil a condition.
    fileprivate func consists(of isIncluded: (UInt8) -> Bool) -> Bool {
        // Over the memory it takes a fraction of the time.
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isIncluded) } ?? utf8.allSatisfy(isIncluded)
    }
}

/// The form of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// Text if standard error is a terminal, fields of the journal if it is systemd's journal, otherwise JSON.
    case auto
    /// One line of text for each event.
    case text
    /// One JSON object for each event.
    case json

    /// Where log events go.
    var output: any LogOutput {
        switch self {
        case .text: LineOutput(line: TextLogLine.self)
        case .json: LineOutput(line: JSONLogLine.self)
        case .auto where isatty(STDERR_FILENO) == 1: LogFormat.text.output
        case .auto: JournalOutput.ofStandardError() ?? LogFormat.json.output
        }
    }
}

extension Logger {
    /// A logger with the task's trace id and `msi_key` in every line.
    package static func service(_ name: String, format: LogFormat, level: Logger.Level) -> Logger {
        service(name, format: format, level: LogLevel(level))
    }

    /// A service's logger, whose level may change.
    static func service(_ name: String, format: LogFormat, level: LogLevel) -> Logger {
        let output = format.output
        return Logger(label: name) { ServiceLogHandler(label: $0, output: output, level: level, metadataProvider: .work) }
    }
}

extension String {
    /// The text for a terminal: escapes such as `\u001b` stand for control characters other than line breaks and tabs, and for
    /// characters that end a line or change the direction of what follows. A JSON text is the same JSON.
    package var terminalText: String {
        // Fast path: nearly every text is printable ASCII.
        if consists(of: { (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return self }
        return unicodeScalars.map { scalar in
            guard scalar.isUnsafeInLine, scalar != "\n", scalar != "\t" else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it moves the cursor, ends the line, or changes the direction of the following text.
    package var isUnsafeInLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
