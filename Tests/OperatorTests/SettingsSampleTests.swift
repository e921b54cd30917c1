import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// The configuration file that `msi settings` prints.
@Suite("The sample of all settings")
struct SettingsSampleTests {
    @Test("It has every setting once, with its default, and a service reads it with every line switched on")
    func isRead() async throws {
        let text = SettingsSample(sections: SettingsSample.sections).description
        let settings = text.split(separator: "\n").filter { $0.hasPrefix("#MSI_") }.map { $0.dropFirst() }
        let names = settings.map { $0.prefix { $0 != "=" } }
        let expected = SettingDeclaration.all.filter { $0 != .configFile }.map(\.name)
        #expect(Set(names) == Set(expected.map { $0[...] }) && names.count == expected.count)
        // A line without a value is to be filled in.
        let values = settings.filter { !$0.hasSuffix("=") }
        #expect(values.count > 30 && !values.contains { $0.contains("$") })
        try await withTemporaryFolder { folder in
            let file = folder + "/msi.env"
            try Data(values.joined(separator: "\n").utf8).write(to: URL(filePath: file))
            let read = try await SettingValues(arguments: [], environment: ["MSI_CONFIG_FILE": file], accepted: [])
            #expect(read.warnings == [])
            let defaults = try await SettingValues(arguments: [], environment: [:], accepted: [])
            #expect(try read.value(.gatewayPort) == defaults.value(.gatewayPort))
            #expect(try read.value(.cubeSizeLimit) == 8 << 20 && defaults.value(.cubeSizeLimit) == 8 << 20)
        }
    }

    @Test("Its lines are at most 120 characters, and say which programs read a setting that several share")
    func isReadable() {
        let text = SettingsSample(sections: SettingsSample.sections).description
        let long = text.split(separator: "\n").filter { $0.count > 120 && $0.hasPrefix("# ") }
        #expect(long == [])
        let limit = SettingsSample.programs(reading: Setting.fcmTopicPayloadLimit.declaration)
        #expect(Set(limit) == ["msi-fcm-relay", "msi-message-log", "msi-broadcast", "msi-gateway"] && limit.count == 4)
        #expect(SettingsSample.programs(reading: Setting.fcmEmulatorPort.declaration) == ["msi-fcm-emulator", "msi-phone"])
        #expect(
            SettingsSample.programs(reading: Setting.identityEmulatorPort.declaration) == ["msi-identity-emulator", "msi-phone"])
        #expect(SettingsSample.programs(reading: Setting.googleClientIDs.declaration) == ["msi-people"])
    }
}
