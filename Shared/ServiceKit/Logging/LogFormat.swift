import Glibc
package import Logging

/// The form of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// Text if standard error is a terminal, otherwise JSON.
    case auto
    /// One line of text for each event.
    case text
    /// One JSON object for each event.
    case json
}

extension Logger {
    /// A service's logger. It writes to standard error, with the task's request id and `msi_key` in every line.
    package static func service(_ name: String, format: LogFormat, level: Logger.Level) -> Logger {
        let isText =
            switch format {
            case .auto: isatty(STDERR_FILENO) == 1
            case .text: true
            case .json: false
            }
        let line: any LogLine.Type = isText ? TextLogLine.self : JSONLogLine.self
        var logger = Logger(label: name) { ServiceLogHandler(label: $0, line: line, metadataProvider: .work) }
        logger.logLevel = level
        return logger
    }
}
