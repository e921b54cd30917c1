/// The actor and the trace of a request.
package struct RequestContext: Hashable, Sendable {
    /// The account on whose behalf the request is made.
    package var actor: String?
    /// The trace that the request belongs to; `nil` for the current task's trace.
    package var traceparent: Traceparent?

    package init(actor: String? = nil, traceparent: Traceparent? = nil) {
        self.actor = actor
        self.traceparent = traceparent
    }
}
