package import Logging
import Synchronization

/// Records log events for a test.
package final class RecordedLog: Sendable {
    /// One event as text: message and metadata.
    package struct Line: Sendable {
        package let level: Logger.Level
        package let text: String
    }

    private let recorded = Mutex<[Line]>([])

    package init() {}

    package var lines: [Line] { recorded.withLock(\.self) }

    package var louderThanDebug: [String] { lines.filter { $0.level > .debug }.map(\.text) }

    /// Whether a line contains a text.
    package func has(_ text: String) -> Bool { lines.contains { $0.text.contains(text) } }

    package var logger: Logger {
        var logger = Logger(label: "test", factory: { _ in Handler(log: self) })
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.recorded.withLock { $0.append(Line(level: event.level, text: "\(event.message) \(event.metadata ?? [:])")) }
        }
    }
}
