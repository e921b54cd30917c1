import FoundationEssentials
import Base
import Schemas
import Subprocess

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

/// The folder of the log files of `msi up`.
struct LogFolder: Sendable {
    let path: String

    /// The lines that contain one of some identifiers.
    ///
    /// - Throws: ``InputFailure`` if the folder or a file cannot be read.
    func records(with identifiers: Set<String>) throws -> [LogRecord] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw InputFailure(description: "\(path) cannot be read")
        }
        // A file that has become too long was copied to NAME.log.1.
        return try names.filter { $0.hasSuffix(".log") || $0.hasSuffix(".log.1") }.sorted().flatMap { name in
            guard let content = try? Data(contentsOf: URL(filePath: "\(path)/\(name)")) else {
                throw InputFailure(description: "\(path)/\(name) cannot be read")
            }
            return Self.lines(of: content, with: identifiers).compactMap { LogRecord(line: $0) }
        }
    }

    /// The lines that contain one of some texts. The files have megabytes, so only those lines become texts.
    private static func lines(of content: Data, with identifiers: Set<String>) -> [String] {
        let identifiers = identifiers.map { Array($0.utf8) }
        return content.withUnsafeBytes { (content: UnsafeRawBufferPointer) in
            var lines: [String] = []
            var start = 0
            while start < content.count {
                let end = content[start...].firstIndex(of: UInt8(ascii: "\n")) ?? content.count
                let line = UnsafeRawBufferPointer(rebasing: content[start..<end])
                if identifiers.contains(where: { contains(line, $0) }) { lines.append(String(decoding: line, as: UTF8.self)) }
                start = end + 1
            }
            return lines
        }
    }

    private static func contains(_ line: UnsafeRawBufferPointer, _ identifier: [UInt8]) -> Bool {
        guard line.count >= identifier.count, !identifier.isEmpty else { return false }
        return (0...line.count - identifier.count).contains { start in
            line[start] == identifier[0] && line[start..<start + identifier.count].elementsEqual(identifier)
        }
    }
}

/// systemd's journal, in which services that run as units log with a field for each key.
enum Journal {
    private static let maxBytes = 64 << 20

    /// Whether the machine has units of the product.
    static var hasUnits: Bool {
        ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"].contains { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.contains { $0.hasPrefix("msi-") && $0.hasSuffix(".service") }
        }
    }

    /// The entries about messages, pushes and traces.
    ///
    /// - Throws: ``InputFailure`` if `journalctl` cannot be run, or fails.
    static func records(keys: Set<String>, traceIDs: Set<String>) async throws -> [LogRecord] {
        let matches =
            keys.sorted().flatMap { ["MSI_KEY=\($0)", "MSI_PUSH_ID=\($0)"] } + traceIDs.sorted().map { "MSI_TRACE_ID=\($0)" }
        // A plus between matches of different fields means "or".
        let arguments = ["--output=json", "--no-pager", "--all"] + Array(matches.map { [$0] }.joined(separator: ["+"]))
        let result: (output: String, error: String, isSuccess: Bool)
        do {
            let ended = try await run(
                .name("journalctl"), arguments: Arguments(arguments), output: .string(limit: maxBytes),
                error: .string(limit: 1 << 16))
            result = (ended.standardOutput, ended.standardError, ended.terminationStatus.isSuccess)
        } catch {
            throw InputFailure(description: "journalctl cannot be run: \(error)")
        }
        // journalctl also fails, without a message, if nothing matches. A user who may not read all of the journal gets a hint.
        let hint = result.error.isEmpty || result.error.hasPrefix("-- No entries") ? nil : result.error.onOneLine(maxLength: 300)
        if let hint { throw InputFailure(description: "journalctl: \(hint)") }
        return result.output.split(separator: "\n").compactMap { LogRecord(journal: String($0)) }
    }

    /// Why a run of a unit has ended, by its last lines: the newest error, else the newest line. A line that was not logged, such as one
    /// about a mistake in the settings, counts as an error.
    ///
    /// After a signal only a line that was not logged counts: the process could log nothing more.
    ///
    /// - Parameters:
    ///   - invocation: The run's identifier, as systemd gives it.
    ///   - bySignal: Whether a signal has ended the run.
    /// - Returns: `nil` if there is none, or this user may not read it.
    static func lastWords(of invocation: String, bySignal: Bool) async -> String? {
        let ended = try? await run(
            .name("journalctl"),
            arguments: ["_SYSTEMD_INVOCATION_ID=\(invocation)", "--lines=50", "--output=json", "--no-pager", "--all"],
            output: .string(limit: 1 << 20), error: .discarded)
        return lastWords(in: (ended?.standardOutput ?? "").split(separator: "\n").map(String.init), bySignal: bySignal)
    }

    /// - Parameter lines: Entries, as `journalctl --output=json` writes them.
    static func lastWords(in lines: [String], bySignal: Bool = false) -> String? {
        let words = lines.compactMap { line -> (isError: Bool, text: String)? in
            guard let record = LogRecord(journal: line) else { return nil }
            // Written to standard error: a line of the log if it has that form.
            let isWritten = line.contains(#""_TRANSPORT":"stdout""#)
            guard let logged = isWritten ? LogRecord(line: record.text) : record else { return (true, record.text) }
            if bySignal { return nil }
            return (isError(logged.level), logged.text)
        }
        return (words.last(where: \.isError) ?? words.last)?.text.onOneLine(maxLength: 300)
    }

    private static func isError(_ level: String) -> Bool { ["error", "critical"].contains(level) }
}
