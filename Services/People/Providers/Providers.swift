import Base
import CoreMetrics
import DeviceTokens
import Instruments
import Logging
import Schemas
import Store

/// The providers that confirm who a person is.
final class Providers: Sendable {
    let settings: ProviderSettings
    private let openID: OpenIDSignIn?
    /// Of the providers whose ID tokens are taken.
    private let keys: [IdentityProvider: any KeySource]
    private let clients: [ProviderClient]
    private let facebook: FacebookLogin?
    private let store: Storage
    private let logger: Logger

    /// - Parameters:
    ///   - openID: `nil` if the university's provider is not set up.
    ///   - keys: The keys of providers, instead of those at the providers' addresses.
    ///   - store: Has the university's codes that were exchanged.
    init(
        _ settings: ProviderSettings, openID: OpenIDSignIn?, times: ProviderTimes, keys given: [IdentityProvider: any KeySource],
        store: Storage, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        self.openID = openID
        self.logger = logger
        var keys: [IdentityProvider: any KeySource] = [:]
        var clients: [ProviderClient] = []
        func read(_ provider: IdentityProvider, _ title: String, at address: String) {
            let client = ProviderClient(title, timeout: times.request)
            clients.append(client)
            keys[provider] = ProviderKeys(times) {
                try await logger.logging("a provider's keys cannot be read") { try await client.keys(at: address) }
            }
        }
        if !settings.googleClientIDs.isEmpty { read(.google, "Google", at: settings.addresses.googleKeys) }
        if settings.firebaseProject != nil { read(.firebase, "Firebase", at: settings.addresses.firebaseKeys) }
        keys[.university] = openID?.provider.keys
        self.keys = keys.merging(given) { $1 }
        self.clients = clients
        facebook = settings.facebook.map {
            FacebookLogin($0, graph: settings.addresses.facebookGraph, times: times, logger: logger)
        }
        if let emulator = settings.addresses.emulator {
            logger.warning(
                "an identity emulator stands for Google, Firebase and Facebook: anyone who reaches it can sign in as anyone",
                metadata: ["endpoint": "\(emulator)"])
        }
    }

    /// Closes the connections.
    func close() async throws {
        for client in clients { try await client.close() }
        try await facebook?.close()
    }

    /// The ways to sign in that are set up.
    var offered: [OfferedProvider] { settings.offered(hasUniversity: openID != nil) }

    /// Checks a credential of a provider.
    ///
    /// - Parameters:
    ///   - device: The thumbprint of the key of the device that sends it.
    ///   - address: The client's network address.
    /// - Throws: ``CommandFailure``: `unauthenticated` with the field of the token or code; `invalid` for a provider that is not set up;
    ///   `unavailable` if the provider cannot be asked; `overloaded` if too many others are signing in.
    func identity(
        of credential: PersonCredential, device: String, from address: String, now: UnixMilliseconds
    ) async throws -> ProvenIdentity {
        let provider = credential.provider
        do {
            switch credential.kind {
            case .idToken(let token)?: return try await identity(of: token, provider, device: device, now: now)
            case .accessToken(let token)?:
                return try await identity(ofAccessToken: token, device: device, from: address, now: now)
            case .authorizationCode(let code, let flow, let state)?:
                let command = FinishOpenIDSignIn(
                    flow: flow, state: state, code: code, issuer: credential.issuer, address: address)
                return try await identity(of: command, device: device, now: now)
            case .password?, nil: throw provider.unavailable
            }
        } catch let refusal as IDTokenRefusal {
            throw self.refusal(refusal, of: credential)
        } catch let failure as CommandFailure where failure.status == .unauthenticated {
            throw CommandFailure(.unauthenticated, failure.message, field: credential.field)
        }
    }

    /// - Returns: As an answer to the person. The log has the provider and the reason, and nothing of the token.
    func refusal(_ refusal: IDTokenRefusal, of credential: PersonCredential) -> CommandFailure {
        logger.notice(
            "a sign-in is refused",
            metadata: ["provider": "\(credential.provider.rawValue)", "reason": "\(refusal.rawValue)"])
        return CommandFailure(.unauthenticated, "\(credential.field): \(refusal.reason)", field: credential.field)
    }

    private func identity(
        of token: Secret, _ provider: IdentityProvider, device: String, now: UnixMilliseconds
    ) async throws -> ProvenIdentity {
        guard let keys = keys[provider], let rules = rules(of: provider, device: device) else { throw provider.unavailable }
        let read = try await IDToken(token.text, by: keys, rules, now: now)
        switch provider {
        case .google: try read.checkGoogle(domains: settings.googleDomains)
        case .firebase: try read.checkFirebase(now: now)
        case .university, .facebook, .password: break
        }
        // Without the signature: of one by ECDSA everyone can make a second one, and so another token that says the same.
        let signed = Secret(token.text.split(separator: ".").prefix(2).joined(separator: "."))
        return identity(read, of: provider, used: UsedTokenDocument(signed, by: device, expires: read.expires))
    }

    private func rules(of provider: IdentityProvider, device: String) -> IDTokenRules? {
        switch provider {
        case .google: IDTokenRules.google(clients: settings.googleClientIDs, device: device)
        case .firebase: settings.firebaseProject.map { IDTokenRules.firebase(project: $0) }
        case .university:
            openID.map {
                IDTokenRules.university(
                    issuer: $0.settings.issuer, clients: [$0.settings.clientID] + $0.settings.appClientIDs, device: device)
            }
        case .facebook, .password: nil
        }
    }

    private func identity(_ token: IDToken, of provider: IdentityProvider, used: UsedTokenDocument?) -> ProvenIdentity {
        let issuer =
            switch provider {
            case .google: "accounts.google.com"
            case .firebase: settings.firebaseProject ?? ""
            case .university, .facebook, .password: openID?.settings.issuer ?? ""
            }
        var identity = ProvenIdentity(provider: provider, issuer: issuer, subject: token.subject, email: token.email, used: used)
        if provider == .university, let claim = openID?.settings.students {
            identity.mayRegister = claim.mayRegister(token.claims)
            identity.isProfessor = claim.isProfessor(token.claims)
        }
        return identity
    }

    private func identity(
        ofAccessToken token: Secret, device: String, from address: String, now: UnixMilliseconds
    ) async throws -> ProvenIdentity {
        guard let facebook, let app = settings.facebook else { throw IdentityProvider.facebook.unavailable }
        let read = try await facebook.person(token, from: address, now: now)
        // Facebook does not say whether an address is verified.
        return ProvenIdentity(
            provider: .facebook, issuer: app.appID, subject: read.person, email: nil,
            used: UsedTokenDocument(token, by: device, expires: read.expires))
    }

    private func identity(
        of command: FinishOpenIDSignIn, device: String, now: UnixMilliseconds
    ) async throws -> ProvenIdentity {
        guard let openID else { throw IdentityProvider.university.unavailable }
        if let known = try await store.get(UsedTokenDocument.id(of: command.code), from: PeopleStore.usedTokens)?.document {
            guard known.thumbprint == device, let exchanged = known.code else { throw IDTokenRefusal.replayed }
            return exchanged.identity(at: openID.settings.issuer)
        }
        let (token, flow) = try await openID.token(for: command, now: now)
        guard flow.confirms == nil else {
            throw CommandFailure(.unauthenticated, "the sign-in was begun to confirm another one; begin again")
        }
        let identity = identity(token, of: .university, used: nil)
        let exchanged = UsedTokenDocument(
            command.code, by: device, expires: now + OpenIDFlow.lifetime, code: ExchangedCode(identity))
        try await store.insert(exchanged, into: PeopleStore.usedTokens)
        return identity
    }

    /// Sets the gauges.
    func collectMetrics() async {
        for (provider, source) in keys {
            guard let age = await (source as? ProviderKeys)?.age else { continue }
            Instrument.identityKeysAge.gauge(["provider": provider.rawValue]).set(Int(age.components.seconds))
        }
    }
}

extension IdentityProvider {
    /// It is not set up here.
    fileprivate var unavailable: CommandFailure {
        CommandFailure(
            .invalid, "credential.provider: nobody signs in here with \(rawValue)", field: "credential.provider")
    }
}

extension PersonCredential {
    /// The field of what its provider has given.
    var field: String {
        switch kind {
        case .idToken?: "id_token"
        case .accessToken?: "access_token"
        case .authorizationCode?: "authorization_code"
        case .password?, nil: "password"
        }
    }
}
