/// For whom a request is made, and what it is a part of.
package struct RequestContext: Hashable, Sendable {
    /// On whose behalf the request is made.
    package var actor: String?
    /// The W3C trace context that the request belongs to.
    package var traceparent: String?

    package init(actor: String? = nil, traceparent: String? = nil) {
        self.actor = actor
        self.traceparent = traceparent
    }
}
