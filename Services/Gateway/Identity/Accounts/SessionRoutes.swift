import Bus
import HTTPTypes
import Hummingbird
import Base
import Schemas
import Synchronization

/// Signing in and out, and the caller's session.
struct SessionRoutes: Feature {
    let people: CommandClient
    let credentials: Credentials
    let cube: CubeService
    private let provider: ProviderKnowledge

    init(people: CommandClient, credentials: Credentials, cube: CubeService) {
        self.people = people
        self.credentials = credentials
        self.cube = cube
        provider = ProviderKnowledge(people: people)
    }

    var section: APISection {
        APISection(
            "Session",
            "A portal signs in with a cookie, which scripts cannot read and browsers send only to the gateway's own pages. Scripts and "
                + "other portals send a bearer token instead.")
    }

    var routes: [Route] {
        [
            Route(.post, "/session", right: .anyone, body: SignInDraft.self, answer: .created(Session.self), signIn)
                .documented(
                    "Sign in",
                    "The answer sets the cookie of the session. An unknown name, a wrong password and a disabled account get the same "
                        + "answer. With a second factor, `code` is a code of the authenticator app or a recovery code.",
                    answerHeaders: [.location, .sessionCookie],
                    problems: [.unauthenticated, .originRefused, .tooManyRequests]),
            Route(
                .post, "/session/invitation", right: .anyone, body: InvitationAcceptance.self, answer: .created(Session.self),
                acceptInvitation
            ).documented(
                "Set the first password with an invitation",
                "Or a new one, if it was forgotten. `invitation` is what the link has behind `invitation=`. It signs in as `POST /session` "
                    + "does, and ends the account's other sign-ins and tokens. An invitation that was used, has expired or was replaced "
                    + "is 401 with the `field` `invitation`.",
                answerHeaders: [.location, .sessionCookie],
                problems: [.unauthenticated, .originRefused, .tooManyRequests]),
            Route(
                .post, "/session/invitation/check", right: .anyone, body: InvitationDraft.self,
                answer: .ok(ReadInvitation.Reply.self)
            ) { call in
                let command = ReadInvitation(
                    invitation: try await call.body().invitation, address: call.context.clientAddress ?? "unknown")
                return Answer(try await people.requestWithPassword(command, context: call.caller))
            }.documented(
                "Ask whose an invitation is",
                "`invitation` is what the link has behind `invitation=`. It stays valid. With `needs_code`, "
                    + "`POST /session/invitation` needs the account's second factor.",
                problems: [.unauthenticated, .tooManyRequests]),
            Route(.get, "/session", right: .partlySignedIn, answer: .ok(Session.self)) { call in
                Answer(await session(of: call.principal))
            }.documented("Ask who the caller is", "The account, its rights, and the topics that it may send to."),
            Route(.get, "/session/ways", right: .anyone, answer: .ok(SignInMethods.self)) { call in
                Answer(
                    SignInMethods(
                        password: true, provider: await provider.isSetUp(for: call.caller),
                        signedIn: call.principal?.credential.kind == .signIn))
            }.documented(
                "Ask how to sign in",
                "For the page for signing in. `provider` says whether `/session/oidc` leads to a provider, and `signed_in` whether the "
                    + "request has the cookie of a valid sign-in. Without one the answer is 200 as well.",
                callsServices: false),
            Route(.put, "/session", right: .partlySignedIn, body: ConfirmationDraft.self, answer: .ok(Session.self), confirm)
                .documented(
                    "Confirm the password",
                    "Some changes, such as those of accounts and tokens, require that the password was confirmed a few minutes ago. "
                        + "After a sign-in at the university's provider, `code` alone shows the account's second factor.",
                    problems: [.conflict, .tooManyRequests]),
            Route(.delete, "/session", right: .partlySignedIn, answer: .noContent) { call in
                let principal = call.principal
                try requireSignIn(principal)
                let ended: HTTPFields = [.setCookie: call.set(.session, nil)]
                do throws(CommandFailure) {
                    try await credentials.signOut(principal.hash, for: call.caller)
                } catch {
                    throw Problem(
                        Problem(error).kind,
                        "The sign-in has ended at this gateway, and that could not be stored: the cookie would be valid again after a "
                            + "restart before it can be. (\(error.message))", headers: ended)
                }
                return Answer(headers: ended)
            }.documented(
                "Sign out",
                "The cookie is not valid any more: at this gateway at once, also while the people service is away, and at all others "
                    + "within a second after it is back. 503 or 507 if neither that service nor the gateway could store it; the gateway "
                    + "forgets the cookie and tries again by itself.", answerHeaders: [.sessionCookie]),
        ]
    }

    private func signIn(_ call: OpenCall<SignInDraft>) async throws -> Answer<Session> {
        try requireOwnPage(call)
        let draft = try await call.body()
        let command = BeginSignIn(
            account: draft.account, password: draft.password, code: draft.code, address: call.context.clientAddress ?? "unknown")
        return await answer(try await people.requestWithPassword(command, context: call.caller), to: call)
    }

    private func acceptInvitation(_ call: OpenCall<InvitationAcceptance>) async throws -> Answer<Session> {
        try requireOwnPage(call)
        let draft = try await call.body()
        let command = AcceptInvitation(
            invitation: draft.invitation, password: draft.password, code: draft.code,
            address: call.context.clientAddress ?? "unknown")
        let signedIn = try await people.requestWithPassword(command, context: call.caller)
        // Drops the copies of the account's sign-ins and requests them again. It follows the command, because anyone can send a
        // wrong invitation for any name.
        try await credentials.change(.account(signedIn.credential.account)) {}
        return await answer(signedIn, to: call)
    }

    /// Refuses pages of other origins, which could sign their visitor in to another account.
    private func requireOwnPage(_ call: OpenCall<some Sendable>) throws {
        guard call.request.headers[.origin] != nil, !call.context.isOwnOrigin else { return }
        throw Problem(.originRefused, "Only the gateway's own pages may sign in with a cookie.", field: "Origin")
    }

    /// The answer to a new sign-in, with its cookie.
    private func answer(_ signedIn: SignedIn, to call: OpenCall<some Sendable>) async -> Answer<Session> {
        let credential = PresentedCredential(.cookie, signedIn.secret)
        credentials.learned(signedIn.credential, for: credential.hash)
        return Answer(
            await session(of: Principal(signedIn.credential, hash: credential.hash)),
            headers: [.location: "/session", .setCookie: call.set(.session, signedIn.secret)])
    }

    private func confirm(_ call: Call<ConfirmationDraft>) async throws -> Answer<Session> {
        let principal = call.principal
        try requireSignIn(principal)
        let draft = try await call.body()
        let (hash, address) = (principal.hash, call.context.clientAddress ?? "unknown")
        let credential: Credential
        if let password = draft.password {
            let command = ConfirmSignIn(hash: hash, password: password, code: draft.code, address: address)
            credential = try await people.requestWithPassword(command, context: call.caller)
        } else {
            guard let code = draft.code else { throw Problem(.invalidField, "password: missing", field: "password") }
            guard principal.credential.secondFactor == .pending else {
                throw Problem(.conflict, "This sign-in lacks no code. The password confirms it.", field: "password")
            }
            credential = try await people.requestWithPassword(
                ShowSecondFactor(hash: hash, code: code, address: address), context: call.caller)
        }
        credentials.learned(credential, for: principal.hash)
        return Answer(await session(of: Principal(credential, hash: principal.hash)))
    }

    private func requireSignIn(_ principal: Principal) throws {
        guard principal.credential.kind == .signIn else {
            throw Problem(.forbidden, "This is for sign-ins. A token is neither confirmed nor signed out; see /token.")
        }
    }

    private func session(of principal: Principal) async -> Session {
        let rights = principal.lacksSecondFactor ? [] : principal.credential.rights
        return Session(
            principal.credential, rights: rights, topics: rights.contains(.send) ? await topics(for: principal) : [])
    }

    /// Signing in works without the cube. The answer then does not say where a communicator may send.
    private func topics(for principal: Principal) async -> [TopicKey]? {
        do {
            return try await cube.topics(for: principal)
        } catch {
            return []
        }
    }
}

/// Whether an OpenID Connect provider is set up, as the people service said within the last seconds.
final class ProviderKnowledge: Sendable {
    /// The setting changes only with a restart of the people service.
    private static let maxAge = Duration.seconds(10)

    private struct Reading {
        let isSetUp: Bool
        let time: ContinuousClock.Instant
    }

    private let people: CommandClient
    private let last = Mutex<Reading?>(nil)

    init(people: CommandClient) {
        self.people = people
    }

    /// While the people service does not answer, its last answer; `false` if there was none.
    func isSetUp(for caller: CallerContext) async -> Bool {
        let known = last.withLock(\.self)
        if let known, ContinuousClock.now < known.time + Self.maxAge { return known.isSetUp }
        let answer = try? await people.request(ReadSignInMethods(), timeout: Credentials.findTimeout, context: caller)
        guard let isSetUp = answer?.provider else { return known?.isSetUp ?? false }
        last.withLock { $0 = Reading(isSetUp: isSetUp, time: .now) }
        return isSetUp
    }
}

extension CommandClient {
    /// How long hashing a password may take, including the wait for earlier ones.
    private static let passwordTimeout: Duration = .seconds(10)

    /// Sends a command with a password to hash or to check. After too many attempts the answer is 429 with `Retry-After`.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure``.
    func requestWithPassword<C: Command>(_ command: C, context: CallerContext) async throws -> C.Reply {
        try await requestLimited(command, timeout: Self.passwordTimeout, context: context)
    }

    /// Sends a command that the service limits by its caller. After too many the answer is 429 with `Retry-After`.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure``.
    func requestLimited<C: Command>(
        _ command: C, timeout: Duration? = nil, context: CallerContext
    ) async throws -> C.Reply {
        do throws(CommandFailure) {
            return try await request(command, timeout: timeout, context: context)
        } catch {
            guard error.status == .overloaded, let wait = error.retryAfter else { throw error }
            throw Problem(
                .tooManyRequests, error.message, field: error.field, headers: [.retryAfter: "\(Seconds(roundingUp: wait))"])
        }
    }
}
