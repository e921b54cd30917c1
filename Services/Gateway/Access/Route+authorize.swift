import Hummingbird
import Schemas

/// Finds the credential with a hash; `nil` if there is none any more.
typealias CredentialLookup = @Sendable (CredentialHash) async throws -> Credential?

extension Route {
    /// The handler, after the check of the caller.
    ///
    /// A body may arrive seconds after the head, and the caller's credential may have ended meanwhile. The caller is therefore
    /// checked again after the body, just before the handler.
    func authorizedHandler(
        _ lookUp: @escaping CredentialLookup, _ limits: RequestLimits
    ) -> @Sendable (Request, GatewayContext) async throws -> Response {
        { [self] request, context in
            var context = context
            guard case .unchecked = context.authentication else {
                return try await authorizedAnswer(request, context, lookUp)
            }
            context.authentication = await context.authentication.checked(
                within: right.requiresCredential ? Credentials.findTimeout : Credentials.shortTimeout)
            // ``RequestLimitMiddleware`` did not know the account yet.
            guard let principal = context.principal else {
                return try await authorizedAnswer(request, context, lookUp)
            }
            let fields = try limits.count(principal, from: context.client)
            var response = try await authorizedAnswer(request, context, lookUp)
            for field in fields { response.headers[field.name] = field.value }
            return response
        }
    }

    private func authorizedAnswer(
        _ request: Request, _ context: GatewayContext, _ lookUp: CredentialLookup
    ) async throws -> Response {
        var (request, context) = (request, context)
        try authorize(context)
        guard body != nil, right.requiresCredential, let principal = context.principal else {
            return try await handler(request, context)
        }
        request.body = .init(buffer: try await RequestBody.collect(from: request))
        context.authentication = .account(try await principal.checkedAgain(lookUp))
        try authorize(context)
        return try await handler(request, context)
    }

    /// Refuses a caller that lacks what the route requires.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure`` if the caller's credential cannot be checked now.
    func authorize(_ context: GatewayContext) throws {
        let principal: Principal
        switch context.authentication {
        case .invalidToken(let problem): throw problem
        case _ where !right.requiresCredential: return
        case .unusable(let error): throw error
        case .unchecked: preconditionFailure("the handler checks it first")
        case .anonymous:
            throw Problem(.unauthenticated, "This requires a sign-in (POST /session) or a bearer token.")
        case .account(let found): principal = found
        }
        if right != .partlySignedIn { try principal.requireSecondFactor() }
        if let required = right.accountRight { try principal.require(required) }
        if right == .administer { try principal.requireScope(for: context.partOfCube) }
        if isConfirmed { try principal.requireConfirmation() }
    }
}

extension Right {
    /// The right of an account or token that a route of this right requires; `nil` for none.
    var accountRight: AccountRight? {
        switch self {
        case .anonymous, .anyone, .partlySignedIn, .signedIn: nil
        case .read: .read
        case .send: .send
        case .administer: .administer
        }
    }
}

extension GatewayContext {
    /// The channel, area or subject that the path names; `nil` if it names none.
    fileprivate var partOfCube: TopicPrefix? {
        TopicPrefix(["channelID", "areaID", "subjectID"].compactMap { parameters.get($0) }.joined(separator: "-"))
    }
}

extension Principal {
    /// The account as its credential allows it now.
    ///
    /// - Throws: ``Problem`` if the credential has ended, or the error of the lookup.
    func checkedAgain(_ lookUp: CredentialLookup) async throws -> Principal {
        guard let credential = try await lookUp(hash) else {
            throw Problem(
                .unauthenticated,
                self.credential.kind == .token ? "The bearer token has been revoked or has expired." : "The sign-in has ended.")
        }
        return Principal(credential, hash: hash)
    }
}
