import FoundationEssentials
import JSON
import Logging
import Schemas

/// One log event as a line.
protocol LogLine: Sendable {
    init(time: Date, level: Logger.Level, service: String, message: String, fields: [(key: String, value: String)])
    /// Without the line's end.
    var text: String { get }
}

/// `2026-11-21T10:00:00.123Z info msi-cube: started endpoint=ipc:///run/msi/cube.sock`
struct TextLogLine: LogLine {
    let text: String

    init(time: Date, level: Logger.Level, service: String, message: String, fields: [(key: String, value: String)]) {
        let rest = fields.map { " \($0.key)=\(Self.quoted($0.value))" }.joined()
        text = "\(time.logText) \(level.rawValue) \(service): \(message.onOneLine)\(rest)"
    }

    /// Quoted, and quotes in it escaped, where anything in it could be taken for the end of the value.
    private static func quoted(_ value: String) -> String {
        // By scalars: a quote with a combining character is another `Character` than a quote.
        let scalars = value.unicodeScalars
        guard scalars.isEmpty || scalars.contains(where: { "\"\\=".unicodeScalars.contains($0) || $0.properties.isWhitespace })
        else { return value.onOneLine }
        let escaped = scalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"" + escaped.onOneLine + "\""
    }
}

/// `{"level":"info","message":"started","service":"msi-cube","time":"…", …}`: the fields beside the four that are always
/// there.
struct JSONLogLine: LogLine {
    let text: String

    init(time: Date, level: Logger.Level, service: String, message: String, fields: [(key: String, value: String)]) {
        var object = Dictionary(fields.map { ($0.key, $0.value.onOneLine) }) { first, _ in first }
        object["time"] = time.logText
        object["level"] = level.rawValue
        object["service"] = service
        object["message"] = message.onOneLine
        // A dictionary of strings can always be written.
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
    /// What another party wrote, kept from breaking the line, showing it in another order, or filling the log.
    fileprivate var onOneLine: String {
        let short = unicodeScalars.prefix(1_000).map { scalar in
            scalar.isUnsafeInLine ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
        return unicodeScalars.count > 1_000 ? short + "…" : short
    }
}

extension Unicode.Scalar {
    /// Whether it moves the cursor, ends the line, or changes the direction of what follows.
    fileprivate var isUnsafeInLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
