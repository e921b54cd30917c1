import Logging
import Schemas
import Synchronization

/// Writes each log event to the service's output.
///
/// Neither swift-log nor any other available package has a handler for JSON lines, or one for the journal's fields.
struct ServiceLogHandler: LogHandler {
    let label: String
    let output: any LogOutput
    /// The level of the whole process.
    let level: LogLevel
    var metadataProvider: Logger.MetadataProvider?
    var metadata: Logger.Metadata = [:]
    /// The level that this logger's owner has set: it logs less than the process, never more.
    private var ownLevel = Logger.Level.trace

    /// The last error that this process has logged, which `bus.health` says.
    static let lastError = Mutex<ServiceReport.LoggedError?>(nil)

    init(label: String, output: any LogOutput, level: LogLevel, metadataProvider: Logger.MetadataProvider?) {
        self.label = label
        self.output = output
        self.level = level
        self.metadataProvider = metadataProvider
    }

    var logLevel: Logger.Level {
        get { max(ownLevel, level.value) }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = event.metadata ?? [:]
        // Each place counts less than those before it. Most lines have only one.
        if let provided = metadataProvider?.get(), !provided.isEmpty { fields.merge(provided) { known, _ in known } }
        if !metadata.isEmpty { fields.merge(metadata) { known, _ in known } }
        if let error = event.error { fields["error"] = "\(error)" }
        if event.level >= .error {
            let text = "\(event.message)" + (fields["error"].map { ": \($0)" } ?? "")
            Self.lastError.withLock { $0 = .init(time: .now, message: text) }
        }
        output.write(
            LogEntry(
                time: .now, level: event.level, service: label, message: event.message.description,
                fields: fields.map { ($0.key, $0.value.description) }.sorted { $0.key < $1.key }, file: event.file,
                line: event.line, function: event.function))
    }
}

/// The minimum level of a process's log lines, which all its loggers share. It may change while they are in use.
final class LogLevel: Sendable {
    private static let all = Logger.Level.allCases.sorted()

    private let index: Atomic<Int>

    init(_ level: Logger.Level) {
        index = Atomic(Self.index(of: level))
    }

    var value: Logger.Level {
        get { Self.all[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { all.firstIndex(of: level) ?? 0 }
}

/// One event of a logger.
struct LogEntry: Sendable {
    typealias Field = (key: String, value: String)

    let time: UnixMilliseconds
    let level: Logger.Level
    /// The service's executable.
    let service: String
    let message: String
    /// In the order of their keys.
    let fields: [Field]
    let file: String
    let line: UInt
    let function: String
}

/// Where log events go.
protocol LogOutput: Sendable {
    func write(_ entry: LogEntry)
}
