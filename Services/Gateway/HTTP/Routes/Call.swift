import CommandBus
import Hummingbird
import Schemas

/// A request to a route, as the route's handler sees it.
struct Call<Body: Sendable>: Sendable {
    let request: Request
    let context: GatewayContext

    /// The caller's identity for the commands of this request.
    var caller: CommandBus.RequestContext { context.caller }

    /// The caller's identity with its credential, for commands that change accounts and rights: the people service checks, in the
    /// transaction of the change, that the credential still allows it.
    var credentialedCaller: CommandBus.RequestContext { context.credentialedCaller }

    /// The account that makes the request.
    ///
    /// - Throws: ``Problem`` if the request is anonymous, which only routes for anyone allow.
    var principal: Principal {
        get throws(Problem) {
            guard let principal = context.principal else { throw Problem(.unauthenticated, "This requires a sign-in.") }
            return principal
        }
    }

    /// A parameter of the path; `nil` if the path has none of this name.
    func parameter(_ name: String) -> String? {
        context.parameters.get(name)
    }

    /// An identifier in the path.
    ///
    /// - Throws: ``Problem``.
    func identifier(_ name: String) throws -> ObjectID {
        guard let text = parameter(name), let identifier = ObjectID(text) else {
            throw Problem(.invalidField, "\(name): expected 24 hexadecimal digits (an ObjectId)", field: name)
        }
        return identifier
    }
}

extension Call {
    /// An identifier that the route's path may have; `nil` if it has none of this name.
    ///
    /// - Throws: ``Problem``.
    func optionalIdentifier(_ name: String) throws -> ObjectID? {
        parameter(name) == nil ? nil : try identifier(name)
    }
}

extension Call where Body: Decodable {
    /// Reads the document in the body. Call it once, after the checks that need no body.
    ///
    /// - Throws: ``SchemaViolation``, or `NIOTooManyBytesError`.
    func body() async throws -> Body {
        try await RequestBody.decode(from: request)
    }
}

/// The body of a route that reads none.
struct NoBody: Sendable {}
