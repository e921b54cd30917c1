import JSON

/// The first frame of a reply: `{"id":"7f3a…","status":"ok"}`.
package struct ReplyHeader: Codable, Hashable, Sendable {
    /// The request's id; empty if it could not be read.
    package let id: String
    package let status: ReplyStatus

    package init(id: String, status: ReplyStatus) {
        self.id = id
        self.status = status
    }
}

/// The outcome of a command. The list is closed: clients in other languages may switch over it.
package enum ReplyStatus: String, ClosedEnum {
    /// Done; the payload is the command's reply.
    case ok
    /// The request breaks a rule that the payload's `message` names; sending it again changes nothing.
    case invalid
    /// The request must name its actor.
    case unauthenticated
    /// The actor lacks the right.
    case forbidden
    /// The object of the request does not exist.
    case notFound = "not_found"
    /// The request contradicts stored data.
    case conflict
    /// Too many requests are pending. Nothing was done; try again later.
    case overloaded
    /// The service or one of its dependencies is unreachable; try again later.
    case unavailable
    /// There is no room to store more. Stored messages are safe and are still sent.
    case storageFull = "storage_full"
    /// The deadline passed first.
    case deadlineExceeded = "deadline_exceeded"
    /// The service has failed; its log says more.
    case `internal`
}
