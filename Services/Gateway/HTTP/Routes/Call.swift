import Bus
import Hummingbird
import Schemas

/// A request to a route behind a right, as the route's handler sees it.
typealias Call<Body: Sendable> = RouteCall<Principal, Body>

/// A request of a person's device to a route of persons.
typealias PersonCall<Body: Sendable> = RouteCall<PersonCaller, Body>

/// A request to a route that needs no right.
typealias OpenCall<Body: Sendable> = RouteCall<Principal?, Body>

/// A request to a route, with the identity of its caller by the route's ``Requirement``.
struct RouteCall<Identity: Sendable, Body: Sendable>: Sendable {
    let request: Request
    let context: GatewayContext
    /// The account, or the person, that makes the request.
    let principal: Identity

    /// The caller's identity for the commands of this request.
    var caller: CallerContext { context.caller }

    /// The caller's identity with its credential, for commands that change accounts and rights: the people service checks, in the
    /// transaction of the change, that the credential still allows it.
    var credentialedCaller: CallerContext { context.credentialedCaller }

    /// The client's network address for commands that limit attempts by it.
    var address: String { context.clientAddress ?? "unknown" }

    /// The gateway's URL without a path, as the client reaches it.
    ///
    /// - Parameter publicURL: See ``GatewayAccess/publicURL``.
    func origin(_ publicURL: String?) -> String {
        publicURL ?? "\(context.isSecure ? "https" : "http")://\(request.head.authority ?? "")"
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

extension RouteCall {
    /// An identifier that the route's path may have; `nil` if it has none of this name.
    ///
    /// - Throws: ``Problem``.
    func optionalIdentifier(_ name: String) throws -> ObjectID? {
        parameter(name) == nil ? nil : try identifier(name)
    }
}

extension RouteCall where Body: Decodable {
    /// Reads the document in the body. Call it once, after the checks that need no body.
    ///
    /// - Throws: ``SchemaViolation``, or `NIOTooManyBytesError`.
    func body() async throws -> Body {
        try await RequestBody.decode(from: request)
    }

    /// As ``body()``, but `nil` if the body is empty.
    ///
    /// - Throws: As ``body()``.
    func optionalBody() async throws -> Body? {
        try await RequestBody.decodeUnlessEmpty(from: request)
    }
}

/// The body of a route that reads none.
struct NoBody: Sendable {}
