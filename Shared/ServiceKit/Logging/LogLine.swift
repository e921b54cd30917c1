import FoundationEssentials
import JSON
import Logging
import Schemas

/// One log event as a line.
protocol LogLine: Sendable {
    init(time: Date, level: Logger.Level, service: String, message: String, fields: [(key: String, value: String)])
    /// The line without its line break.
    var text: String { get }
}

/// `2026-11-21T10:00:00.123Z info msi-cube: started endpoint=ipc:///run/msi/cube.sock`
struct TextLogLine: LogLine {
    let text: String

    init(time: Date, level: Logger.Level, service: String, message: String, fields: [(key: String, value: String)]) {
        text = "\(time.logText) \(level.rawValue) \(service): \(Self.body(message: message, fields: fields))"
    }

    /// The message with the fields, on one line.
    static func body(message: String, fields: [(key: String, value: String)]) -> String {
        message.onOneLine + fields.map { " \($0.key)=\(quoted($0.value))" }.joined()
    }

    /// The value, in quotes with escapes if it contains anything that could be mistaken for its end.
    private static func quoted(_ value: String) -> String {
        // By scalars, because a quote with a combining character is not the `Character` `"`.
        let scalars = value.unicodeScalars
        guard scalars.isEmpty || scalars.contains(where: { "\"\\=".unicodeScalars.contains($0) || $0.properties.isWhitespace })
        else { return value.onOneLine }
        let escaped = scalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"" + escaped.onOneLine + "\""
    }
}

/// `{"level":"info","message":"started","service":"msi-cube","time":"…", …}`: four fixed fields and the event's own.
struct JSONLogLine: LogLine {
    let text: String

    init(time: Date, level: Logger.Level, service: String, message: String, fields: [(key: String, value: String)]) {
        var object = Dictionary(fields.map { ($0.key, $0.value.onOneLine) }) { first, _ in first }
        object["time"] = time.logText
        object["level"] = level.rawValue
        object["service"] = service
        object["message"] = message.onOneLine
        // Encoding a dictionary of strings cannot fail.
        text = (try? JSONCoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension Date {
    /// ISO 8601 in UTC with milliseconds.
    fileprivate var logText: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension String {
    /// The text, escaped and shortened: foreign text must not break the line, change its direction or fill the log.
    fileprivate var onOneLine: String {
        // Fast path: nearly every text is printable ASCII. Unicode's properties take longer to look up than the line to write.
        if utf8.count <= 1_000, utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
        let short = unicodeScalars.prefix(1_000).map { scalar in
            scalar.isUnsafeInLine ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
        return unicodeScalars.count > 1_000 ? short + "…" : short
    }
}
