package import ServiceContextModule

extension ServiceContext {
    /// The current task's trace. A client of the bus sends it with each request, and a server sets it for the request's handler.
    /// So it follows the work through all services.
    package var traceparent: Traceparent? {
        get { self[TraceparentKey.self] }
        set { self[TraceparentKey.self] = newValue }
    }

    private enum TraceparentKey: ServiceContextKey {
        typealias Value = Traceparent
        static let nameOverride: String? = "traceparent"
    }

    /// The current context with a change, for ``withValue(_:operation:)``.
    package static func current(changing change: (inout ServiceContext) -> Void) -> ServiceContext {
        var context = current ?? .topLevel
        change(&context)
        return context
    }
}
