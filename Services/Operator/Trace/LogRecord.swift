import FoundationEssentials
import JSON
import Schemas

/// A line of a service's log, of any of its forms.
struct LogRecord: Hashable, Sendable {
    let time: UnixMilliseconds
    /// The level, as services write it.
    let level: String
    /// The service's executable.
    let service: String
    /// The message with its fields.
    let text: String

    /// The fields that every line of a trace has, or that say nothing to a reader.
    private static let omitted: Set = ["trace_id", "span_id", "msi_key", "push_id", "command_id"]

    /// - Parameter fields: The event's own fields.
    private init(time: UnixMilliseconds, level: String, service: String, message: String, fields: [String: String]) {
        self.time = time
        self.level = level
        self.service = service
        let shown = fields.filter { !Self.omitted.contains($0.key) }.sorted { $0.key < $1.key }
        text = message + shown.map { " \($0.key)=\($0.value.contains(" ") ? "\"\($0.value)\"" : $0.value)" }.joined()
    }

    /// Reads a line of a log file.
    ///
    /// - Returns: `nil` for a line of another form, such as one of a library.
    init?(line: String) {
        if line.hasPrefix("{") {
            self.init(json: line)
        } else {
            self.init(text: line)
        }
    }

    private init?(json line: String) {
        guard let object = try? JSONCoder.decode([String: String].self, from: Data(line.utf8)),
            let time = object["time"].flatMap(Self.time), let message = object["message"]
        else { return nil }
        let fixed: Set = ["time", "level", "service", "message"]
        self.init(
            time: time, level: object["level"] ?? "", service: object["service"] ?? "", message: message,
            fields: object.filter { !fixed.contains($0.key) })
    }

    /// `2026-11-21T10:00:00.123Z info msi-cube: started endpoint=…`
    private init?(text line: String) {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let time = Self.time(String(parts[0])), parts[2].hasSuffix(":") else { return nil }
        self.init(
            time: time, level: String(parts[1]), service: String(parts[2].dropLast()), message: Self.withoutOmitted(parts[3]),
            fields: [:])
    }

    /// Reads an entry of the journal, as `journalctl --output=json` writes it.
    init?(journal line: String) {
        guard let entry = try? JSONCoder.decode(JSONValue.self, from: Data(line.utf8)),
            let micros = entry["__REALTIME_TIMESTAMP"]?.string.flatMap({ Int64($0) }),
            let message = entry["MESSAGE"].flatMap(Self.text)
        else { return nil }
        let level = entry["PRIORITY"]?.string.flatMap { Int($0) }.map { Self.level(of: $0) } ?? ""
        self.init(
            time: UnixMilliseconds(rawValue: micros / 1_000), level: level,
            service: entry["SYSLOG_IDENTIFIER"].flatMap(Self.text) ?? "", message: Self.withoutOmitted(message[...]), fields: [:])
    }

    /// A value of the journal: a text, or an array of bytes if it is not printable.
    private static func text(_ value: JSONValue) -> String? {
        if let text = value.string { return text }
        guard let bytes = value.elements else { return nil }
        return String(decoding: bytes.compactMap { $0.integer.flatMap { UInt8(exactly: $0) } }, as: UTF8.self)
    }

    private static func level(of priority: Int) -> String {
        let names = ["critical", "critical", "critical", "error", "warning", "notice", "info", "debug"]
        return names.indices.contains(priority) ? names[priority] : ""
    }

    /// The text of a line without the fields that are not shown.
    private static func withoutOmitted(_ text: Substring) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).filter { word in
            word.firstIndex(of: "=").map { !omitted.contains(String(word[..<$0])) } ?? true
        }.joined(separator: " ")
    }

    private static func time(_ text: String) -> UnixMilliseconds? {
        guard let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else { return nil }
        return UnixMilliseconds(rawValue: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }
}
