package import JSON

/// The first frame of a reply: `{"id":"7f3a…","status":"ok"}`.
package struct ReplyHeader: Codable, Hashable, Sendable {
    /// The request's id; empty where the request had none that could be read.
    package let id: String
    package let status: ReplyStatus

    package init(id: String, status: ReplyStatus) {
        self.id = id
        self.status = status
    }
}

/// How a command went. The list is closed: clients in other languages may switch over it.
package enum ReplyStatus: String, ClosedEnum {
    /// Done; the payload is the command's reply.
    case ok
    /// The request breaks a rule that the payload's `message` names; sending it again changes nothing.
    case invalid
    /// The request needs to say who makes it.
    case unauthenticated
    /// Whoever makes it may not.
    case forbidden
    /// What it is about does not exist.
    case notFound = "not_found"
    /// It contradicts what is stored.
    case conflict
    /// The service has too much to do; nothing was done; try again later.
    case overloaded
    /// The service, or something that it needs, is away; try again later.
    case unavailable
    /// There is no room to store more; what is stored already is safe, and goes on its way.
    case storageFull = "storage_full"
    /// The deadline passed first.
    case deadlineExceeded = "deadline_exceeded"
    /// A fault of the service's own; its log says more.
    case `internal`
}
