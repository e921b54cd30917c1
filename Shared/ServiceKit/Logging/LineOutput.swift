import Base
import Logging
import Schemas

/// Writes each event as one line to standard error, by ``LineWriter``.
///
/// A line of the levels `error` and `critical` is written when ``write(_:)`` returns, unless the reader hangs.
struct LineOutput: LogOutput {
    let line: any LogLine.Type
    var writer = LineWriter.standardError

    func write(_ entry: LogEntry) {
        var line = JSONBytes(capacity: 512)
        append(entry, to: &line)
        writer.append(line, isUrgent: entry.level >= .error) { count in
            let report = LogEntry(
                time: .now, level: .warning, service: entry.service,
                message: "log lines were dropped: standard error did not take them", fields: [("lines", String(count))],
                file: #fileID, line: #line, function: #function)
            var line = JSONBytes(capacity: 512)
            append(report, to: &line)
            return Array(line.bytes)
        }
    }

    private func append(_ entry: LogEntry, to line: inout JSONBytes) {
        self.line.append(entry, to: &line)
        line.append("\n")
    }
}
