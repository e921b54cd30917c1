import FoundationEssentials
import Logging
import Schemas

/// Writes each log event as one line to standard error, in one system call, so that lines of several threads do not mix.
///
/// Neither swift-log nor any other available package has a handler for JSON lines.
struct ServiceLogHandler: LogHandler {
    let label: String
    let line: any LogLine.Type
    var metadataProvider: Logger.MetadataProvider?
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(label: String, line: any LogLine.Type, metadataProvider: Logger.MetadataProvider?) {
        self.label = label
        self.line = line
        self.metadataProvider = metadataProvider
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
        let text =
            line.init(
                time: Date(), level: event.level, service: label, message: event.message.description,
                fields: fields.map { ($0.key, $0.value.description) }.sorted { $0.0 < $1.0 }
            ).text + "\n"
        StandardError.write(text)
    }
}
