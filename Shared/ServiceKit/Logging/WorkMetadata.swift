import Bus
package import Logging
package import ServiceContextModule

extension ServiceContext {
    /// The message that the task works on.
    package var msiKey: String? {
        get { self[MSIKeyKey.self] }
        set { self[MSIKeyKey.self] = newValue }
    }

    /// The push that the task works on.
    package var pushID: String? {
        get { self[PushIDKey.self] }
        set { self[PushIDKey.self] = newValue }
    }

    private enum PushIDKey: ServiceContextKey {
        typealias Value = String
        static let nameOverride: String? = "push_id"
    }

    private enum MSIKeyKey: ServiceContextKey {
        typealias Value = String
        static let nameOverride: String? = "msi_key"
    }
}

extension Logger.MetadataProvider {
    /// Adds to each log line of a task the `trace_id`, which is the id of the HTTP request behind it, the `span_id`, which tells that
    /// request from the outbox's attempts, and the `msi_key` or `push_id`.
    package static let work = Logger.MetadataProvider {
        guard let context = ServiceContext.current else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let traceparent = context.traceparent {
            metadata["trace_id"] = "\(traceparent.traceID)"
            metadata["span_id"] = "\(traceparent.parentID)"
        }
        if let msiKey = context.msiKey { metadata["msi_key"] = "\(msiKey)" }
        if let pushID = context.pushID { metadata["push_id"] = "\(pushID)" }
        return metadata
    }
}
