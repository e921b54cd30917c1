package import ServiceContextModule

extension ServiceContext {
    /// The trace that the task belongs to. A client of the bus sends it along with each request, and a server sets it for the
    /// request's handler, so that it follows the work through every service.
    package var traceparent: Traceparent? {
        get { self[TraceparentKey.self] }
        set { self[TraceparentKey.self] = newValue }
    }

    private enum TraceparentKey: ServiceContextKey {
        typealias Value = Traceparent
        static let nameOverride: String? = "traceparent"
    }

    /// The context at hand with a change, for ``withValue(_:operation:)``.
    package static func current(changing change: (inout ServiceContext) -> Void) -> ServiceContext {
        var context = current ?? .topLevel
        change(&context)
        return context
    }
}
