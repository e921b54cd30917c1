import ArgumentParser
import CommandBus
import FoundationEssentials
import Schemas

/// What `msi trace` looks for.
enum TraceKey: Hashable, Sendable {
    /// The `msi_key` of a message, or the id of a push.
    case item(ObjectID)
    /// What one request has caused.
    case trace(TraceID)

    var text: String {
        switch self {
        case .item(let id): id.description
        case .trace(let id): id.description
        }
    }
}

extension TraceKey: ExpressibleByArgument {
    /// Reads an `msi_key` or a push's id (24 digits), a trace id or `X-Request-Id` (32 digits, or a UUID), or a `traceparent`.
    init?(argument: String) {
        if let id = ObjectID(argument) {
            self = .item(id)
        } else if let trace = Traceparent(argument).flatMap({ TraceID($0.traceID) }) ?? TraceID(argument.filter { $0 != "-" }) {
            self = .trace(trace)
        } else {
            return nil
        }
    }
}
