import Base
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` says about the providers at which students sign in, and about the keys of their tokens.
@Suite("Students in msi doctor")
struct DoctorIdentityTests {
    private static let real = [
        "MSI_GOOGLE_CLIENT_IDS": "id.apps.example", "MSI_FIREBASE_PROJECT": "hub", "MSI_FACEBOOK_APP_ID": "1",
        "MSI_FACEBOOK_APP_SECRET": "secret",
    ]
    private static let publicURL = ["MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu"]

    private func settings(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: [])
    }

    @Test("Each provider that is set is asked at its own address, and none without a setting")
    func addresses() async throws {
        let real = try await settings(Self.real)
        #expect(
            try IdentityCheck(settings: real, people: nil).providers.map(\.address) == [
                "https://www.googleapis.com/oauth2/v3/certs",
                "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
                "https://graph.facebook.com/v25.0/debug_token",
            ])
        let none = try await settings([:])
        #expect(try IdentityCheck(settings: none, people: none).providers == [])
        #expect(try await IdentityCheck(settings: none, people: nil).findings() == [])
    }

    @Test("Beside a running people service its emulator is asked: well, with errors, and gone")
    func emulator() async throws {
        try await withTemporaryFolder { folder in
            let own = try await settings([:])
            let port = ["MSI_IDENTITY_EMULATOR_PORT": "0"]
            let access = try await withService("msi-identity-emulator", in: folder, settings: port) { process in
                let access = IdentityEmulatorAccess(port: try process.port)
                let people = try await settings(own.trial(with: access))
                let well = try await IdentityCheck(settings: own, people: people).findings()
                #expect(well.count == 4 && well.allSatisfy { $0.level == .ok }, "\(well)")
                try await withHTTPClient { http in
                    let emulator = IdentityServer(url: access.url, http: http)
                    try await emulator.setFault(["status": 500], of: .facebook)
                    try await emulator.setFault(["status": 200, "body": ["keys": []]], of: .google)
                }
                let ill = try await IdentityCheck(settings: own, people: people).findings()
                let problems = ill.filter { $0.level == .failure }.map(\.found)
                #expect(problems.count == 2, "\(ill)")
                #expect(problems.first?.contains("with Google: ") == true && problems.first?.hasSuffix("has no keys") == true)
                #expect(problems.last?.hasSuffix("answers 500") == true)
                return access
            }
            let people = try await settings(own.trial(with: access))
            let gone = try await IdentityCheck(settings: own, people: people).findings()
            #expect(gone.count { $0.level == .failure && $0.found.hasSuffix("does not answer") } == 3, "\(gone)")
        }
    }

    @Test("An emulator is enough to try the hub out, and a failure where others reach it")
    func production() async throws {
        let trial = try await settings([:]).trial(with: IdentityEmulatorAccess(port: 1))
        let own = try await IdentityCheck(settings: settings(trial), people: nil).findings()
        #expect(own.map(\.level) == [.ok] && own.first?.found.contains("http://127.0.0.1:1") == true)
        let open = try await IdentityCheck(settings: settings(trial.merging(Self.publicURL) { $1 }), people: nil).findings()
        #expect(open.map(\.level) == [.failure] && open.first?.found.contains("https://hub.example.edu") == true)
        #expect(open.first?.advice?.contains("remove MSI_IDENTITY_ENDPOINT") == true)
    }

    @Test("The redirect address of the app is named with those who have to know it")
    func redirect() async throws {
        let issuer = ["MSI_OIDC_ISSUER": "http://127.0.0.1:1/realm"].merging(Self.publicURL) { $1 }
        let findings = try await IdentityCheck(settings: settings(issuer), people: nil).findings()
        #expect(findings.map(\.level) == [.ok])
        for text in ["https://hub.example.edu/app/", "https://hub.example.edu/session/oidc/callback"] {
            #expect(findings.first?.found.contains(text) == true, "\(findings)")
        }
    }

    @Test("In a build the services have the settings of msi up, and a provider that is set replaces the emulator")
    func settingsOfUp() async throws {
        let installation = Installation(executables: "/nowhere", environment: [:], isRoot: false)
        let own = try installation.withSettingsOfUp(try await settings([:])).environment
        #expect(own["MSI_IDENTITY_ENDPOINT"] == "http://127.0.0.1:8444" && own["MSI_REGISTRATION"] == "anyone")
        let real = try installation.withSettingsOfUp(try await settings(Self.real)).environment
        #expect(real["MSI_IDENTITY_ENDPOINT"] == nil && real["MSI_REGISTRATION"] == nil)
    }

    @Test("A key of students' tokens is a point of 65 bytes, and there is at least one")
    func keys() {
        let key = DeviceTokenKey(id: "1", key: "B" + String(repeating: "a", count: 86))
        #expect(StudentCheck.findings(about: [key]).map(\.level) == [.ok])
        #expect(StudentCheck.findings(about: [key, key]).first?.found.hasSuffix("2 keys") == true)
        #expect(StudentCheck.findings(about: []).first?.level == .failure)
        let wrong = StudentCheck.findings(about: [key, DeviceTokenKey(id: "2", key: "A")])
        #expect(wrong.first?.level == .failure && wrong.first?.advice?.contains("--forget") == true)
    }
}
