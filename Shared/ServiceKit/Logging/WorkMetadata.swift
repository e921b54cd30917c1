import CommandBus
package import Logging
package import ServiceContextModule

extension ServiceContext {
    /// The message that the task is at work on.
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
    /// What the task is at work on, in each of its log lines: `request_id`, the trace id of the HTTP request that led to it,
    /// and `msi_key`.
    package static let work = Logger.MetadataProvider {
        guard let context = ServiceContext.current else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let traceparent = context.traceparent { metadata["request_id"] = "\(traceparent.traceID)" }
        if let msiKey = context.msiKey { metadata["msi_key"] = "\(msiKey)" }
        return metadata
    }
}
