import ServiceKit
import Testing

/// The settings of students' identity providers, and when the emulator takes their place.
@Suite("Settings of students")
struct StudentSettingTests {
    private func values(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: SettingDeclaration.all)
    }

    @Test("msi up uses the identity emulator unless a provider is set, or others reach the gateway")
    func emulator() async throws {
        #expect(try await values([:]).usesIdentityEmulator)
        #expect(try await values(["MSI_OIDC_ISSUER": "https://login.example.edu"]).usesIdentityEmulator)
        for (name, value) in [
            ("MSI_GOOGLE_CLIENT_IDS", "id.apps.example"), ("MSI_FIREBASE_PROJECT", "hub"), ("MSI_FACEBOOK_APP_ID", "1"),
            ("MSI_IDENTITY_ENDPOINT", "http://127.0.0.1:9000"), ("MSI_GATEWAY_PUBLIC_URL", "https://hub.example.edu"),
        ] {
            let settings = try await values([name: value])
            #expect(try !settings.usesIdentityEmulator && !settings.includes(.identityEmulator), "\(name)")
        }
        // As msi doctor sees the settings of msi up.
        let trial = try await values([:]).trial(with: IdentityEmulatorAccess(port: 8_444))
        let settings = try await values(trial)
        #expect(try !settings.usesIdentityEmulator && settings.includes(.identityEmulator))
        #expect(try settings.optional(.firebaseSignInURL) == "http://127.0.0.1:8444/firebase/sign-in")
    }

    @Test("For a trial anyone may register, unless the operator has decided about that")
    func registration() async throws {
        let access = IdentityEmulatorAccess(port: 1)
        #expect(try await values([:]).value(.registration) == "off")
        #expect(try await values([:]).trial(with: access)["MSI_REGISTRATION"] == "anyone")
        #expect(try await values(["MSI_REGISTRATION": "off"]).trial(with: access)["MSI_REGISTRATION"] == nil)
        #expect(try await values(["MSI_REGISTRATION": "code"]).value(.registration) == "code")
    }

    @Test("Addresses and words of another form are refused")
    func forms() async throws {
        for wrong in ["https://example.org", "http://hub.example.edu", "http://127.0.0.1:9000/path", "emulator"] {
            let settings = try await values(["MSI_IDENTITY_ENDPOINT": wrong])
            #expect(throws: ConfigurationError.self, "\(wrong)") { try settings.optional(.identityEndpoint) }
        }
        for wrong in ["http://example.org/sign-in", "sign-in", "http://127.0.0.1.example.org/"] {
            let settings = try await values(["MSI_FIREBASE_SIGN_IN_URL": wrong])
            #expect(throws: ConfigurationError.self, "\(wrong)") { try settings.optional(.firebaseSignInURL) }
        }
        for right in ["https://example.org/sign-in", "http://localhost:8444/firebase/sign-in", "http://127.0.0.1/"] {
            #expect(try await values(["MSI_FIREBASE_SIGN_IN_URL": right]).optional(.firebaseSignInURL) == right)
        }
        let settings = try await values(["MSI_REGISTRATION": "everyone", "MSI_ACCOUNT_UNUSED_DAYS": "-1"])
        #expect(throws: ConfigurationError.self) { try settings.value(.registration) }
        #expect(throws: ConfigurationError.self) { try settings.value(.unusedAccountDays) }
    }

    @Test("Only the people service reads the secret of the Facebook app, which may be a credential")
    func secret() {
        let readers = ServiceEntry.all.filter { $0.settings.map(\.name).contains("MSI_FACEBOOK_APP_SECRET") }
        #expect(readers == [.people])
        #expect(ServiceEntry.people.settings.filter(\.namesSecretFile).map(\.name).contains("MSI_FACEBOOK_APP_SECRET_FILE"))
    }

    @Test("The services with data of persons are those that people asks to erase")
    func personalData() {
        #expect(ServiceEntry.withPersonalData.map(\.name) == ["people", "message-log", "study"])
        #expect(ServiceEntry.people.uses.map(\.service) == [.messageLog, .study])
        // Each can start while the other is away.
        #expect(ServiceEntry.people.startDependencies == [])
    }
}
