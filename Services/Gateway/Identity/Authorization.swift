import DeviceTokens
import Hummingbird
import Schemas

/// The right that a route requires of its caller. ``Route`` refuses callers without it.
enum Right: String, CaseIterable, Sendable {
    /// No right is needed, and the gateway ignores the credential: each request is anonymous, and is limited by its address. Only where
    /// another method of the path requires a credential, a request with a valid one is limited by the account.
    case anonymous
    /// No right is needed, not even an account.
    case anyone
    /// Be signed in, or have a bearer token. A required second factor may still be missing.
    case partlySignedIn
    /// Be signed in, with the second factor if it is required, or have a bearer token.
    case signedIn
    /// Read the archive.
    case read
    /// Post, edit, recall and retry messages, where the access lists of the cube allow it.
    case send
    /// Change the cube, its access lists and accounts. With a token that is restricted to a part of the cube: change that part.
    case administer
    /// Be a person who uses one of their devices, whose token (`PUT /user`) is no credential for anything else.
    case person

    /// Whether the caller needs a credential.
    var requiresCredential: Bool { self != .anonymous && self != .anyone }
}

/// The right that a route requires, with the identity that its handler gets: ``Principal`` behind a right, ``PersonCaller`` on a route of
/// persons, `Principal?` where no right is needed.
struct Requirement<Identity: Sendable>: Sendable {
    let right: Right
    /// - Throws: ``Problem``, or ``CommandFailure`` if the caller's credential cannot be checked now.
    let identity: @Sendable (Authentication) throws -> Identity
}

extension Requirement where Identity == Principal? {
    static var anonymous: Requirement { Requirement(right: .anonymous) { try $0.optionalAccount } }
    static var anyone: Requirement { Requirement(right: .anyone) { try $0.optionalAccount } }
}

extension Requirement where Identity == Principal {
    static var partlySignedIn: Requirement { Requirement(right: .partlySignedIn) { try $0.requiredAccount } }
    static var signedIn: Requirement { Requirement(right: .signedIn) { try $0.requiredAccount } }
    static var read: Requirement { Requirement(right: .read) { try $0.requiredAccount } }
    static var send: Requirement { Requirement(right: .send) { try $0.requiredAccount } }
    static var administer: Requirement { Requirement(right: .administer) { try $0.requiredAccount } }
}

extension Requirement where Identity == PersonCaller {
    static var person: Requirement { Requirement(right: .person) { try $0.requiredPerson } }
}

/// Finds the credential with a hash; `nil` if it does not exist or has ended.
typealias CredentialLookup = @Sendable (CredentialHash) async throws -> Credential?

/// Checks the caller of a request once more.
struct CallerCheck: Sendable {
    let lookUp: CredentialLookup
    /// Why the token of a device counts no longer; `nil` if it does.
    let refusal: @Sendable (PersonCaller) -> DeviceTokenRefusal?

    /// The caller as the credential allows it now.
    ///
    /// - Throws: ``Problem`` if the credential has ended, or the error of the lookup.
    func again(_ authentication: Authentication) async throws -> Authentication {
        switch authentication {
        case .account(let principal): return .account(try await principal.checkedAgain(lookUp))
        case .device(let person): return refusal(person).map { Authentication(.refused($0)) } ?? authentication
        case .anonymous, .invalidToken, .unusable: return authentication
        }
    }
}

extension Route {
    /// The handler, after the check of the caller.
    ///
    /// A body may arrive seconds after the head, and the caller's credential may end in that time. So the caller is checked again
    /// after the body, just before the handler.
    func authorizedHandler(
        _ callers: CallerCheck, _ limits: RequestLimits
    ) -> @Sendable (Request, GatewayContext) async throws -> Response {
        { [self] request, context in
            var context = context
            guard right != .anonymous else {
                // Another method of the path may require a credential.
                context.authentication = .anonymous
                return try await handler(request, context)
            }
            guard let check = context.missingCheck else { return try await authorizedAnswer(request, context, callers) }
            context.authentication = await check(
                right.requiresCredential ? Credentials.findTimeout : Credentials.shortTimeout)
            // ``RequestLimitMiddleware`` did not know the account yet.
            guard context.authentication.account != nil else {
                return try await authorizedAnswer(request, context, callers)
            }
            let fields = try limits.count(context.authentication, from: context.client)
            var response = try await authorizedAnswer(request, context, callers)
            for field in fields { response.headers[field.name] = field.value }
            return response
        }
    }

    private func authorizedAnswer(
        _ request: Request, _ context: GatewayContext, _ callers: CallerCheck
    ) async throws -> Response {
        try authorize(context)
        var (request, context) = (request, context)
        // The commands of the request do not name a person where none is needed.
        if !right.requiresCredential, context.authentication.person != nil { context.authentication = .anonymous }
        guard body != nil, right.requiresCredential else { return try await handler(request, context) }
        request.body = .init(buffer: try await RequestBody.collect(from: request))
        context.authentication = try await callers.again(context.authentication)
        try authorize(context)
        return try await handler(request, context)
    }

    /// Refuses a caller that lacks what the route requires.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure`` if the caller's credential cannot be checked now.
    func authorize(_ context: GatewayContext) throws {
        guard right.requiresCredential else {
            _ = try context.authentication.optionalAccount
            return
        }
        guard right != .person else {
            _ = try context.authentication.requiredPerson
            return
        }
        let principal = try context.authentication.requiredAccount
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
        case .anonymous, .anyone, .partlySignedIn, .signedIn, .person: nil
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
