import Bus
import Base
import Schemas
import TestSupport

@testable import People

/// A people service that uses a provider from PyPI, and has the super user `admin`.
struct OpenIDHarness {
    static let redirect = "http://127.0.0.1:8080/session/oidc/callback"
    private static let settings = [
        "MSI_OIDC_SUPER_USERS": "it", "MSI_OIDC_COMMUNICATORS": "staff,teacher", "MSI_OIDC_NAME_CLAIM": "preferred_username",
    ]

    let people: RunningPeople
    let provider: OpenIDTestProvider
    /// Who is signed in already in the browser that comes back from the provider.
    var caller = CallerContext()

    /// - Parameter settings: Instead of a mapping of roles and of the name.
    static func with(
        _ settings: [String: String] = settings, times: ProviderTimes = RunningPeople.patientTimes,
        _ body: (OpenIDHarness) async throws -> Void
    ) async throws {
        try await OpenIDTestProvider.with { provider in
            let registration = try await provider.register(redirect: redirect)
            try await withTemporaryFolder { folder in
                let given = [
                    "MSI_OIDC_ISSUER": provider.issuer, "MSI_OIDC_CLIENT_ID": registration.clientID,
                    "MSI_OIDC_CLIENT_SECRET": registration.clientSecret,
                ]
                let settings = settings.merging(given) { own, _ in own }
                try await RunningPeople.with(in: folder, settings: settings, times: times) { people in
                    try await people.setUp()
                    try await body(OpenIDHarness(people: people, provider: provider))
                    if people.log.has(registration.clientSecret) { throw TooLate("the log has the client's secret") }
                }
            }
        }
    }

    func begin(confirms: CredentialHash? = nil) async throws -> BeginOpenIDSignIn.Reply {
        try await people.client.request(BeginOpenIDSignIn(redirect: Self.redirect, confirms: confirms))
    }

    /// A parameter of an address.
    func parameter(_ name: String, of address: String) -> Secret {
        let query = address.split(separator: "?").last?.split(separator: "&") ?? []
        let value = query.first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1)
        return Secret(value.map(String.init) ?? "")
    }

    func finish(_ flow: Secret, _ address: String, state: Secret? = nil, code: Secret? = nil) -> FinishOpenIDSignIn {
        FinishOpenIDSignIn(
            flow: flow, state: state ?? parameter("state", of: address), code: code ?? parameter("code", of: address),
            address: "192.0.2.1")
    }

    /// What the app of a person sends who has come back from the provider.
    func credential(of subject: String, confirms: CredentialHash? = nil) async throws -> PersonCredential {
        let begun = try await begin(confirms: confirms)
        let address = try await provider.signIn(subject, at: begun.url)
        return PersonCredential(
            provider: .university, authorizationCode: parameter("code", of: address), flow: begun.flow,
            state: parameter("state", of: address))
    }

    /// The way of a person to the provider and back.
    func arrive(_ subject: String, confirms: CredentialHash? = nil) async throws -> FinishOpenIDSignIn.Reply {
        let begun = try await begin(confirms: confirms)
        let command = finish(begun.flow, try await provider.signIn(subject, at: begun.url))
        return try await people.client.request(command, context: caller)
    }

    /// The same, and into a new account if there is none.
    func signIn(_ subject: String, confirms: CredentialHash? = nil) async throws -> SignedIn {
        let reply = try await arrive(subject, confirms: confirms)
        if let signedIn = reply.signedIn { return signedIn }
        guard let account = reply.newAccount else { throw TooLate("neither a sign-in nor an account") }
        return try await accept(account)
    }

    func accept(_ account: FinishOpenIDSignIn.NewAccount) async throws -> SignedIn {
        try await people.client.request(AcceptOpenIDAccount(ticket: account.ticket, address: "192.0.2.1"), context: caller)
    }

    func refusal(_ subject: String, confirms: CredentialHash? = nil) async throws -> CommandFailure? {
        do {
            _ = try await signIn(subject, confirms: confirms)
            return nil
        } catch let failure as CommandFailure {
            return failure
        }
    }

    /// Stores a person whose roles are `roles`.
    func add(_ subject: String, _ name: String, roles: [String]) async throws {
        try await provider.add(
            subject, ["preferred_username": .string(name), "roles": .array(roles.map { .string($0) })])
    }
}
