import Base
import FoundationEssentials
import NIOHTTP1
import ServiceKit

/// Whether the providers at which students sign in can be reached, and whether an emulator stands for them where it must not.
struct IdentityCheck: Sendable {
    /// A provider that is switched on, and the document that the people service reads there.
    struct Provider: Hashable, Sendable {
        let name: String
        let address: String
        /// Whether the answer is a set of keys. Facebook has none; that it answers is enough.
        let hasKeys: Bool
    }

    /// Those to ask. An emulator runs with the services, so it is not asked while they do not run.
    let providers: [Provider]
    private let emulator: String?
    private let publicURL: String?
    private let hasIssuer: Bool

    /// - Parameters:
    ///   - settings: Those of the installation.
    ///   - people: Those of the people service that runs, whose emulator may have another port; `nil` if none runs.
    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues, people: SettingValues?) throws {
        let own = people ?? settings
        let emulator = try own.optional(.identityEndpoint)
        self.emulator = emulator
        publicURL = try settings.optional(.gatewayPublicURL)
        hasIssuer = try own.optional(.oidcIssuer) != nil
        func address(_ name: String, _ origin: String, _ path: String) -> String {
            (emulator.map { "\($0)/\(name)" } ?? origin) + path
        }
        var providers: [Provider] = []
        if try !own.value(.googleClientIDs).isEmpty {
            let keys = address("google", "https://www.googleapis.com", "/oauth2/v3/certs")
            providers.append(Provider(name: "Google", address: keys, hasKeys: true))
        }
        if try own.optional(.firebaseProject) != nil {
            let path = "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
            let keys = address("firebase", "https://www.googleapis.com", path)
            providers.append(Provider(name: "Firebase", address: keys, hasKeys: true))
        }
        if try own.optional(.facebookAppID) != nil {
            let graph = address("facebook", "https://graph.facebook.com", "/v25.0/debug_token")
            providers.append(Provider(name: "Facebook", address: graph, hasKeys: false))
        }
        self.providers = emulator != nil && people == nil ? [] : providers
    }

    func findings() async -> [Finding] {
        let answers = await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, provider) in providers.enumerated() {
                group.addTask { (index, await Self.finding(about: provider)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return [findingAboutEmulator, redirectAddress].compactMap(\.self) + providers.indices.compactMap { answers[$0] }
    }

    /// An emulator gives everyone who reaches it the token of any student.
    private var findingAboutEmulator: Finding? {
        guard let emulator else { return nil }
        let name = Setting<String>.identityEndpoint.declaration.name
        guard let publicURL else {
            return .ok(.signIn, "students sign in at the identity emulator \(emulator), which is enough to try the hub out")
        }
        return .failure(
            .signIn,
            "\(name) is \(emulator), and others reach the hub at \(publicURL): a program of this machine can sign in as any student",
            "remove \(name), name the real providers, and restart msi-people")
    }

    /// What has to be registered at the providers, which nobody can check from here.
    private var redirectAddress: Finding? {
        guard let publicURL, emulator == nil else { return nil }
        let university = hasIssuer ? ["the university's provider, beside \(publicURL)/session/oidc/callback"] : []
        let names = providers.map(\.name) + university
        guard !names.isEmpty else { return nil }
        return .ok(
            .signIn,
            "the student's app comes back to \(publicURL)/app/, which has to be registered at \(names.joined(separator: ", "))")
    }

    private static func finding(about provider: Provider) async -> Finding {
        guard let problem = await problem(of: provider) else {
            return .ok(.signIn, "\(provider.name) answers at \(provider.address)")
        }
        return .failure(
            .signIn, "students cannot sign in with \(provider.name): \(provider.address) \(problem)",
            "let connections to it out, for the machine of msi-people; students who are signed in stay so")
    }

    /// For a sentence after the address; `nil` if the provider answers well.
    private static func problem(of provider: Provider) async -> String? {
        switch await ProviderProbe.answer(at: provider.address) {
        case .failure(let failure): return failure.problem
        case .success(let (status, body)):
            guard provider.hasKeys else { return status.code >= 500 ? "answers \(status.code)" : nil }
            guard status == .ok else { return "answers \(status.code)" }
            return (try? JSONValue(parsing: body))?["keys"]?.elements?.isEmpty == false ? nil : "has no keys"
        }
    }
}
