import FoundationEssentials
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` says about settings of units that have no effect, or none yet.
@Suite("Settings in effect")
struct SettingsInEffectTests {
    private func file(_ path: String, _ text: String, unit: String? = nil) async throws -> EnvironmentFile {
        try Data(text.utf8).write(to: URL(filePath: path))
        let reader = try BuiltProduct.packageFolder() + "/deploy/packaging/environment-file"
        return try #require(await EnvironmentFile(path, of: unit, reader: reader))
    }

    @Test("A line of msi.env that a file of the units overrides is named with that file; the caller's variables do not count")
    func overridden() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(filePath: folder + "/machine.env"))
            let configuration = folder + "/msi.env"
            try Data("MSI_LOG_LEVEL=info\nMSI_LOG_FORMAT=json\nMSI_STATE_DIR=\(folder)\n".utf8)
                .write(to: URL(filePath: configuration))
            let machine = try await file(folder + "/machine.env", "MSI_CONFIG_FILE=\(configuration)\n")
            let cluster = try await file(folder + "/cluster.env", "MSI_LOG_FORMAT=text\nMSI_STATE_DIR=\(folder)\n")
            // As the commands get them, with a variable of the caller.
            let environment = machine.values.merging(cluster.values) { $1 }.merging(["MSI_LOG_LEVEL": "debug"]) { $1 }
            let check = SettingsInEffectCheck(
                installation: Installation(executables: folder, environment: environment, isRoot: true),
                settings: try await SettingValues(arguments: [], environment: environment, accepted: []), processes: [])
            let findings = await check.overridden([machine, cluster])
            #expect(findings.count == 1, "\(findings)")
            #expect(
                findings.first?.found
                    == "MSI_LOG_FORMAT in \(configuration) has no effect, since \(cluster.path) has another value")
            #expect(findings.first?.advice?.contains("a credential in /etc/credstore, ") == true)
        }
    }

    @Test(
        "A unit's process has lines that were changed or removed since its start; credentials and the unit's own lines are neither"
    )
    func former() async throws {
        try await withTemporaryFolder { folder in
            let cluster = try await file(folder + "/cluster.env", "MSI_A=new\nMSI_B=same\nMSI_KEY_FILE=/etc/key\n")
            let own = try await file(folder + "/msi-cube.env", "MSI_B=own\n", unit: "msi-cube.service")
            let state = UnitState(status: nil, variables: ["MSI_METRICS_PORT"], files: [cluster.path])
            let environment = [
                "MSI_A": "old", "MSI_B": "own", "MSI_GONE": "1", "MSI_METRICS_PORT": "9101", "PATH": "/bin",
                "MSI_KEY_FILE": "/run/credentials/msi-cube.service/msi-key",
                "MSI_C_FILE": "/run/credentials/msi-cube.service/msi-c",
            ]
            func findings(_ environment: [String: String], _ state: UnitState?) -> [String] {
                SettingsInEffectCheck.former(environment, of: "msi-cube.service", [cluster, own], state).map(\.found)
            }
            let changed = "msi-cube.service still works without the values that \(cluster.path) has for MSI_A"
            #expect(
                findings(environment, state) == [
                    changed, "msi-cube.service still works with MSI_GONE, which its files and the unit do not have any more",
                ])
            // Without systemd's word, and with files that are not known, nothing can be said about what is gone.
            #expect(findings(environment, nil) == [changed])
            #expect(findings(environment, UnitState(status: nil, variables: [], files: ["/etc/msi/*.env"])) == [changed])
            let current = environment.merging(["MSI_A": "new"]) { $1 }.filter { $0.key != "MSI_GONE" }
            #expect(findings(current, state) == [])
        }
    }
}
