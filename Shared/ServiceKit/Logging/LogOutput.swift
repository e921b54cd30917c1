import FoundationEssentials
import Logging

/// One event of a logger.
struct LogEntry: Sendable {
    let time: Date
    let level: Logger.Level
    /// The service's executable.
    let service: String
    let message: String
    /// In the order of their keys.
    let fields: [(key: String, value: String)]
    let file: String
    let line: UInt
    let function: String
}

/// Where log events go.
protocol LogOutput: Sendable {
    func write(_ entry: LogEntry)
}

/// Writes each event as one line to standard error, in one system call, so that lines of several threads do not mix.
struct LineOutput: LogOutput {
    let line: any LogLine.Type

    func write(_ entry: LogEntry) {
        let line = line.init(
            time: entry.time, level: entry.level, service: entry.service, message: entry.message, fields: entry.fields)
        StandardError.write(line.text + "\n")
    }
}
