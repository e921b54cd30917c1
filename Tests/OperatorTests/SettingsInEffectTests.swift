import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` says about settings that have no effect.
@Suite("Settings in effect")
struct SettingsInEffectTests {
    @Test("Of a build, a line of the configuration file that the environment overrides is named with the file")
    func overridden() async throws {
        try await withTemporaryFolder { folder in
            let configuration = folder + "/msi.env"
            try Data("MSI_LOG_LEVEL=info\nMSI_LOG_FORMAT=json\n".utf8).write(to: URL(filePath: configuration))
            let environment = ["MSI_CONFIG_FILE": configuration, "MSI_LOG_LEVEL": "debug", "MSI_LOG_FORMAT": "json"]
            let check = SettingsInEffectCheck(
                installation: Installation(executables: folder, environment: environment, isRoot: true),
                settings: try await SettingValues(arguments: [], environment: environment, accepted: []), processes: [],
                reports: [:])
            #expect(
                await check.overridden().map(\.found) == [
                    "MSI_LOG_LEVEL in \(configuration) has no effect, since the environment has another value"
                ])
        }
    }

    @Test("Of units, a line that has no effect anywhere is a warning, and one that only some units do without is none")
    func units() {
        let findings = SettingsInEffectCheck.overridden(
            [
                ("msi-gateway.service", .gateway, ["MSI_GATEWAY_PORT"]),
                ("msi-cube.service", .cube, ["MSI_LOG_LEVEL"]), ("msi-people.service", .people, []),
            ], in: "/etc/msi/msi.env")
        #expect(findings.map(\.level) == [.warning, .ok], "\(findings)")
        #expect(findings[0].found.contains("MSI_GATEWAY_PORT in /etc/msi/msi.env has no effect"))
        #expect(findings[1].found.contains("MSI_LOG_LEVEL in /etc/msi/msi.env does not apply to msi-cube.service"))
    }

    @Test("A file that is put in another's place counts as changed, whatever time it has kept")
    func replaced() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/cluster.env"
            try Data("MSI_LOG_LEVEL=info\n".utf8).write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1_000)], ofItemAtPath: file)
            #expect(FileTime.lastChange(of: file) == 1_000_000)
            #expect(try #require(FileTime.lastReplacement(of: file)) > 1_000_000)
        }
    }
}
