import FoundationEssentials
import Glibc
package import Logging

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
