import Crypto
import FoundationEssentials
import Logging
import Schemas
import ServiceKit
import Store
import Synchronization
import Base

/// Signs in people whom the university's OpenID Connect provider knows: by the authorization code flow with PKCE, state and nonce.
final class OpenIDSignIn: Sendable {
    let settings: OpenIDSettings
    let provider: OpenIDProvider
    let logger: Logger
    private let store: Storage
    /// Limits the requests to the provider, which anyone can cause, so that other commands are still served.
    private let turns = FairSemaphore(
        maxRunning: 16, maxWaiting: 16, maxWait: .seconds(5), refusal: "too many people are signing in at the provider; try again"
    )
    private let used = Mutex(UsedFlows())

    init(settings: OpenIDSettings, times: ProviderTimes, store: Storage, logger: Logger) {
        self.settings = settings
        self.store = store
        self.logger = logger
        provider = OpenIDProvider(settings, times: times, logger: logger)
    }

    /// Where to send the browser, and what it keeps until it comes back.
    ///
    /// - Throws: ``CommandFailure``: `overloaded` if too many others are signing in.
    func begin(
        _ command: BeginOpenIDSignIn, from client: IPAddress?, now: UnixMilliseconds
    ) async throws -> BeginOpenIDSignIn.Reply {
        let metadata = try await turns.take(for: client) { try await provider.currentMetadata() }
        let flow = OpenIDFlow(redirect: command.redirect, confirms: command.confirms, now: now)
        var query = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", flow.redirect),
            ("scope", settings.scopes.joined(separator: " ")), ("state", flow.state), ("nonce", flow.nonce),
            ("code_challenge", flow.challenge), ("code_challenge_method", "S256"),
        ]
        if flow.confirms != nil { query += [("prompt", "login"), ("max_age", "0")] }
        let separator = metadata.authorizationEndpoint.contains("?") ? "&" : "?"
        return BeginOpenIDSignIn.Reply(
            url: metadata.authorizationEndpoint + separator + FormEncoding.encode(query), flow: try flow.sealed(by: await key()))
    }

    /// The person who has come back with a code.
    ///
    /// - Throws: As ``token(for:now:)``.
    func finish(_ command: FinishOpenIDSignIn, now: UnixMilliseconds) async throws -> OpenIDPerson {
        do {
            let (token, flow) = try await token(for: command, now: now)
            return settings.person(token, flow)
        } catch let refusal as IDTokenRefusal {
            logger.warning("an ID token is refused", metadata: ["reason": "\(refusal.reason)"])
            throw CommandFailure(.unauthenticated, "the provider's ID token is refused: \(refusal.reason)")
        }
    }

    /// The ID token of a person who has come back with a code.
    ///
    /// - Throws: ``IDTokenRefusal``. ``CommandFailure``: `unauthenticated` if anything does not fit together; `overloaded` if too many
    ///   others are signing in.
    func token(for command: FinishOpenIDSignIn, now: UnixMilliseconds) async throws -> (IDToken, OpenIDFlow) {
        let flow = try OpenIDFlow(command.flow, key: await key(), now: now)
        guard flow.state == command.state.text else {
            throw CommandFailure(.unauthenticated, "the answer belongs to another sign-in; begin again")
        }
        // RFC 9207: another provider's answer must not reach this one's token endpoint.
        let namesIssuer = try await provider.currentMetadata().namesIssuer == true
        guard command.issuer == settings.issuer || command.issuer == nil && !namesIssuer else {
            let issuer = command.issuer.map { "the issuer \($0.prefix(200))" } ?? "no issuer"
            logger.warning(
                "an answer of another provider is refused", metadata: ["iss": "\(issuer)", "issuer": "\(settings.issuer)"])
            throw CommandFailure(.unauthenticated, "the answer is of \(issuer), not of \(settings.issuer); begin again")
        }
        return try await turns.take(for: IPAddress(command.address)) {
            guard used.withLock({ $0.use(flow, now: now) }) else {
                throw CommandFailure(.unauthenticated, "the sign-in has come back already; begin again")
            }
            let token = try await provider.idToken(for: command.code, flow)
            let rules = IDTokenRules.flow(flow, issuer: settings.issuer, clientID: settings.clientID)
            return (try await IDToken(token, by: provider.keys, rules, now: now), flow)
        }
    }

    /// What the gateway sends back once it has checked the name.
    func ticket(for newcomer: OpenIDNewcomer) async throws -> Secret {
        try newcomer.sealed(by: await key())
    }

    /// - Throws: ``CommandFailure``: `unauthenticated` if it is not a ticket of this service, or too old.
    func newcomer(_ ticket: Secret, now: UnixMilliseconds) async throws -> OpenIDNewcomer {
        try OpenIDNewcomer(ticket, key: await key(), now: now)
    }

    /// The key that seals flows.
    private func key() async throws -> SymmetricKey { try await store.sealingKey(SealingKey.id) }
}
