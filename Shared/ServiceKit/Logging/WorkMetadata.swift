import CommandBus
package import Logging
package import ServiceContextModule

extension ServiceContext {
    /// The message that the task works on.
    package var msiKey: String? {
        get { self[MSIKeyKey.self] }
        set { self[MSIKeyKey.self] = newValue }
    }

    private enum MSIKeyKey: ServiceContextKey {
        typealias Value = String
        static let nameOverride: String? = "msi_key"
    }
}

extension Logger.MetadataProvider {
    /// Adds to each log line of a task the `request_id`, which is the trace id of the HTTP request behind it, and the `msi_key`.
    package static let work = Logger.MetadataProvider {
        guard let context = ServiceContext.current else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let traceparent = context.traceparent { metadata["request_id"] = "\(traceparent.traceID)" }
        if let msiKey = context.msiKey { metadata["msi_key"] = "\(msiKey)" }
        return metadata
    }
}
