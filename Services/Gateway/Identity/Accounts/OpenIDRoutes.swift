import Bus
import HTTPTypes
import Hummingbird
import Base
import Logging
import Schemas

/// Signing in at the university's OpenID Connect provider: to its page, and back with a code.
struct OpenIDRoutes: Feature {
    private static let callback = "/session/oidc/callback"
    /// The people service sends the provider up to three requests.
    private static let timeout = Duration.seconds(20)

    let people: CommandClient
    let credentials: Credentials
    let cube: CubeService
    /// See ``GatewayAccess/publicURL``.
    let publicURL: String?
    /// Allows for two requests a sign-in, and for a campus behind one address.
    private let limit = AddressLimit(
        perMinute: 300, "This address has begun or finished too many sign-ins at the provider within a minute.")

    init(people: CommandClient, credentials: Credentials, cube: CubeService, publicURL: String?) {
        self.people = people
        self.credentials = credentials
        self.cube = cube
        self.publicURL = publicURL
    }

    var section: APISection {
        APISection(
            "Sign-in at the university",
            "If an OpenID Connect provider is set up, a browser that opens `/session/oidc` is sent to the provider, and comes back signed in."
        )
    }

    var routes: [Route] {
        [
            Route(.get, "/session/oidc", right: .anyone, query: BeginQuery.self, answer: .init(status: .seeOther)) {
                call, query in
                try await withPage(call) { try await begin(call, query) }
            }
            .documented(
                "Begin to sign in at the provider",
                "A link for a browser. With `confirm=true` the provider asks for the password again. If the same person comes back, "
                    + "a new, confirmed sign-in takes the place of the current one.",
                answerHeaders: [.redirect, .flowCookie], problems: [.unauthenticated, .notFound]),
            Route(.get, Self.callback, right: .anyone, query: CallbackQuery.self, answer: .init(status: .seeOther)) {
                call, query in
                try await withPage(call) { try await finish(call, query) }
            }
            .documented(
                "Come back from the provider",
                "The provider sends the browser here, with a code or an error. The answer sets the cookie of the session.",
                answerHeaders: [.redirect, .sessionCookie], problems: [.unauthenticated, .forbidden, .notFound, .conflict]),
        ]
    }

    /// A person whose sign-in fails sees the portal's first page, which says why. Any other client gets the problem.
    private func withPage(
        _ call: OpenCall<NoBody>, _ work: () async throws -> Answer<NoContent>
    ) async throws -> Answer<NoContent> {
        do {
            return try await work()
        } catch  where call.prefersPage {
            let problem: Problem
            switch error {
            case let given as Problem: problem = given
            case let failure as CommandFailure: problem = Problem(failure)
            default: throw error
            }
            call.context.logger.info(
                "a sign-in at the provider failed",
                metadata: ["type": "\(problem.kind.rawValue)", "detail": "\(problem.detail)"])
            return .redirect(.seeOther, to: "/?problem=\(problem.kind.rawValue)")
        }
    }

    private func begin(_ call: OpenCall<NoBody>, _ query: BeginQuery) async throws -> Answer<NoContent> {
        try limit.count(call.context.client)
        var confirms: CredentialHash?
        if query.confirm == true {
            guard let principal = call.principal, principal.credential.kind == .signIn else {
                throw Problem(.unauthenticated, "There is no sign-in to confirm; open /session/oidc.")
            }
            confirms = principal.hash
        }
        let command = BeginOpenIDSignIn(redirect: call.origin(publicURL) + Self.callback, confirms: confirms)
        let begun = try await people.request(command, timeout: Self.timeout, context: call.caller)
        return Answer(headers: [.location: begun.url, .setCookie: call.set(.flow, begun.flow)])
    }

    private func finish(_ call: OpenCall<NoBody>, _ query: CallbackQuery) async throws -> Answer<NoContent> {
        try limit.count(call.context.client)
        if let error = query.error {
            throw Problem(.unauthenticated, "The provider did not sign you in: \(error.prefix(60)).")
        }
        guard let code = query.code, let state = query.state else {
            throw Problem(.invalidField, "code, state: missing, but required", field: query.code == nil ? "code" : "state")
        }
        guard let flow = GatewayCookie.flow.value(in: call.request, isSecure: call.context.isSecure) else {
            throw Problem(.unauthenticated, "The sign-in was not begun in this browser, or took too long; begin again.")
        }
        let command = FinishOpenIDSignIn(
            flow: Secret(flow), state: Secret(state), code: Secret(code), issuer: query.iss,
            address: call.context.clientAddress ?? "unknown")
        let reply = try await people.request(command, timeout: Self.timeout, context: call.caller)
        let signedIn = if let signedIn = reply.signedIn { signedIn } else { try await accept(reply.newAccount, call) }
        credentials.learned(signedIn.credential, for: PresentedCredential(.cookie, signedIn.secret).hash)
        var headers: HTTPFields = [.location: "/"]
        headers.append(HTTPField(name: .setCookie, value: call.set(.session, signedIn.secret)))
        headers.append(HTTPField(name: .setCookie, value: call.set(.flow, nil)))
        return Answer(headers: headers)
    }

    /// Adds the account of a person who is new here, unless its name would give it the rights of another account.
    private func accept(_ account: FinishOpenIDSignIn.NewAccount?, _ call: OpenCall<NoBody>) async throws -> SignedIn {
        guard let account else {
            throw CommandFailure(.internal, "the people service answers neither with a sign-in nor with a new account")
        }
        guard try await !cube.current().lists(account.account) else {
            throw Problem(
                .conflict,
                "An access list of the cube names \(account.account). A super user has to add this account, with its identifier at the "
                    + "provider (oidc).")
        }
        let command = AcceptOpenIDAccount(ticket: account.ticket, address: call.context.clientAddress ?? "unknown")
        return try await people.request(command, context: call.caller)
    }

}

private struct BeginQuery: Codable, Sendable {
    let confirm: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case confirm
    }
}

/// The parameters of RFC 6749, sections 4.1.2 and 4.1.2.1, and of RFC 9207. Providers add further ones, which are ignored.
private struct CallbackQuery: Codable, Checked, Sendable {
    let code: String?
    let state: String?
    let error: String?
    /// The issuer whose answer it is.
    let iss: String?

    private struct Keys: CodingKey {
        static let code = Keys(stringValue: "code")
        static let state = Keys(stringValue: "state")
        static let error = Keys(stringValue: "error")
        static let iss = Keys(stringValue: "iss")

        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        code = try container.decodeIfPresent(String.self, forKey: .code)
        state = try container.decodeIfPresent(String.self, forKey: .state)
        error = try container.decodeIfPresent(String.self, forKey: .error)
        iss = try container.decodeIfPresent(String.self, forKey: .iss)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encodeIfPresent(code, forKey: .code)
        try container.encodeIfPresent(state, forKey: .state)
        try container.encodeIfPresent(error, forKey: .error)
        try container.encodeIfPresent(iss, forKey: .iss)
    }

    func check() throws(SchemaViolation) {
        try TextLimits(max: 4_000).check(code, Keys.code)
        try TextLimits(max: 1_000).check(state, Keys.state)
        try TextLimits(max: 1_000).check(error, Keys.error)
        try TextLimits(max: 2_000).check(iss, Keys.iss)
    }
}

extension AnswerHeader {
    fileprivate static let redirect = AnswerHeader(
        name: .location, description: "The address to go to.", example: "https://login.example.edu/authorize?response_type=code")

    fileprivate static let flowCookie = AnswerHeader(
        name: .setCookie, description: "The cookie of the sign-in that has begun.",
        example: "msi_oidc_8080=…; Max-Age=600; Path=/; HttpOnly; SameSite=Lax")
}

extension CubeCopy {
    /// Whether any access list names an account.
    func lists(_ account: AccountName) -> Bool {
        channels.contains { channel in
            channel.access.name(account)
                || channel.areas.contains { area in
                    area.access.name(account) || area.subjects.contains { $0.access.name(account) }
                }
        }
    }
}

extension [String] {
    fileprivate func name(_ account: AccountName) -> Bool { contains { AccountName($0) == account } }
}
