import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// The processes of `msi up` and their environments.
@Suite("Processes of msi up")
struct StackTests {
    private func stack(_ environment: [String: String] = [:]) async throws -> Stack {
        let names = ["MSI_GATEWAY_PORT", "MSI_FCM_EMULATOR_PORT", "MSI_IDENTITY_EMULATOR_PORT", "MSI_PHONE_PORT"]
        let ports = Dictionary(uniqueKeysWithValues: names.map { ($0, "0") })
        let settings = try await SettingValues(
            arguments: [], environment: ports.merging(environment) { $1 }, accepted: [])
        return try Stack(settings)
    }

    @Test("Without a provider of students the identity emulator runs, the people service uses it, and the greeting names it")
    func identityEmulator() async throws {
        let stack = try await stack()
        #expect(stack.processes.map(\.service) == ServiceEntry.all)
        let emulator = try #require(stack.identityEmulator)
        let people = try #require(stack.processes.first { $0.service == .people }).environment
        #expect(people["MSI_IDENTITY_ENDPOINT"] == emulator.url && people["MSI_REGISTRATION"] == "anyone")
        #expect(people["MSI_FIREBASE_SIGN_IN_URL"] == emulator.url + "/firebase/sign-in")
        #expect(people["MSI_IDENTITY_EMULATOR_PORT"] == "\(emulator.port)" && emulator.port > 0)
        #expect(people["MSI_FACEBOOK_APP_SECRET"] == "emulated")
        // Removed from the environment of each other service.
        for process in stack.processes where process.service != .people {
            #expect(process.environment["MSI_FACEBOOK_APP_SECRET"] == .some(nil), "\(process.service.name)")
        }
        let greeting = stack.greeting(hasPhone: true, command: "msi", environment: [:])
        #expect(greeting.contains("\n  sign-in  \(emulator.url), stands for Google, Firebase and Facebook\n"))
    }

    @Test(
        "With a provider of students, or where others reach the gateway, there is none",
        arguments: [
            ["MSI_GOOGLE_CLIENT_IDS": "id"], ["MSI_IDENTITY_ENDPOINT": "http://127.0.0.1:9000"],
            ["MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu"],
        ])
    func realProviders(settings: [String: String]) async throws {
        let stack = try await stack(settings)
        #expect(stack.identityEmulator == nil && !stack.processes.contains { $0.service == .identityEmulator })
        #expect(stack.processes.allSatisfy { $0.environment["MSI_REGISTRATION"] == nil })
        #expect(!stack.greeting(hasPhone: true, command: "msi", environment: [:]).contains("sign-in  "))
    }

    @Test("A port that another program has is replaced; the operator's word about registration stays")
    func takenPort() async throws {
        try await withTCPProxy(to: 1) { listener in
            let stack = try await stack(["MSI_IDENTITY_EMULATOR_PORT": "\(listener.port)", "MSI_REGISTRATION": "off"])
            #expect(try #require(stack.identityEmulator).port != listener.port)
            #expect(stack.processes.allSatisfy { $0.environment["MSI_REGISTRATION"] == nil })
        }
    }
}
