import Glibc
package import Logging

/// How log lines look.
package enum LogFormat: String, CaseIterable, Sendable {
    /// Text where standard error is a terminal, JSON otherwise.
    case auto
    /// One line for a reader.
    case text
    /// One JSON object a line, for a machine.
    case json
}

extension Logger {
    /// A service's logger: to standard error, with the request id and `msi_key` of the work at hand in every line.
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
