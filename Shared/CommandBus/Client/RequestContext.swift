package import Schemas

/// The actor, the address, the credential and the trace of a request.
package struct RequestContext: Hashable, Sendable {
    /// The caller's account name; `nil` if a program makes the request for itself.
    package var actor: String?
    /// The network address of the caller's client, 1 to 64 characters; `nil` if it is unknown.
    package var address: String?
    /// The caller's sign-in or token; `nil` if the command does not check it.
    package var credential: CredentialHash?
    /// The trace that the request belongs to; `nil` for the current task's trace.
    package var traceparent: Traceparent?

    package init(
        actor: String? = nil, address: String? = nil, credential: CredentialHash? = nil, traceparent: Traceparent? = nil
    ) {
        self.actor = actor
        self.address = address
        self.credential = credential
        self.traceparent = traceparent
    }
}
