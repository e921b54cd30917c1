import FoundationEssentials
import Logging
import Schemas

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
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { _, new in new } }
        if let given = event.metadata { fields.merge(given) { _, new in new } }
        if let error = event.error { fields["error"] = "\(error)" }
        output.write(
            LogEntry(
                time: Date(), level: event.level, service: label, message: event.message.description,
                fields: fields.map { ($0.key, $0.value.description) }.sorted { $0.0 < $1.0 }, file: event.file,
                line: event.line, function: event.function))
    }
}
