import ArgumentParser
import FoundationEssentials
import ServiceKit
import TestSupport
import Testing

@testable import Chaos

@Suite("Another version in a chaos run")
struct OtherVersionTests {
    /// Calls a function with a folder that has executables of these names.
    private func withExecutables(_ names: [String], _ body: (String) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for name in names {
                try Data().write(to: URL(filePath: "\(folder)/\(name)"))
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/\(name)")
            }
            try body(folder)
        }
    }

    @Test("A service that the other version does not have, FCM and the database are not mixed")
    func parts() async throws {
        try await withExecutables(["msi-cube", "msi-message-log", "msi-fcm-emulator"]) { folder in
            let other = try OtherVersion(in: folder)
            #expect(other.parts.map(\.name).sorted() == ["cube", "message-log-1", "message-log-2"])
            for seed in 1...2 as ClosedRange<UInt64> {
                for part in Part.allCases where !other.parts.contains(part) {
                    #expect(other.first(of: part, seed: seed) == .this)
                }
            }
        }
    }

    @Test("One of two instances starts with each version, and each process with either, by the seed")
    func first() async throws {
        try await withExecutables(Part.ofProduct.compactMap(\.service?.executable)) { folder in
            let other = try OtherVersion(in: folder)
            #expect(other.parts == Part.ofProduct)
            for seed in 1...4 as ClosedRange<UInt64> {
                for instances in [Part.relays, Part.messageLogs] {
                    #expect(Set(instances.map { other.first(of: $0, seed: seed) }) == [.this, .other])
                }
                for part in other.parts {
                    #expect(other.first(of: part, seed: seed) != other.first(of: part, seed: seed + 1), "\(part.name)")
                }
            }
        }
    }

    @Test("A folder without executables, and this version's own one, are refused by name")
    func refused() async throws {
        try await withExecutables(["msi-fcm-emulator"]) { folder in
            do {
                _ = try Chaos.parse(["--beside", folder])
                Issue.record("the folder was accepted")
            } catch {
                #expect(Chaos.message(for: error).contains("\(folder) has no executable of a service"))
            }
        }
        try await withExecutables(["msi-cube"]) { folder in
            #expect(throws: OtherVersion.Unusable.self) { try OtherVersion(in: folder, beside: URL(filePath: folder + "/")) }
            let options = try Chaos.parse(["--beside", folder])
            #expect(options.beside?.parts.map(\.name) == ["cube"])
        }
        let options = try Chaos.parse([])
        #expect(options.beside == nil)
    }
}
