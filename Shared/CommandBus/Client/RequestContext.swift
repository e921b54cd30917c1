/// For whom a request is made, and what it is a part of.
package struct RequestContext: Hashable, Sendable {
    /// On whose behalf the request is made.
    package var actor: String?
    /// The trace that the request belongs to; without it, the one of the task that makes the request.
    package var traceparent: Traceparent?

    package init(actor: String? = nil, traceparent: Traceparent? = nil) {
        self.actor = actor
        self.traceparent = traceparent
    }
}
