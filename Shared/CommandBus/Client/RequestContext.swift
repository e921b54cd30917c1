/// The actor and the trace of a request.
package struct RequestContext: Hashable, Sendable {
    /// The caller's account name; `nil` if a program makes the request for itself.
    package var actor: String?
    /// The trace that the request belongs to; `nil` for the current task's trace.
    package var traceparent: Traceparent?

    package init(actor: String? = nil, traceparent: Traceparent? = nil) {
        self.actor = actor
        self.traceparent = traceparent
    }
}
