import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` says about processes that it finds: here other programs under the names of services.
@Suite("Processes of an installation")
struct RunningProcessTests {
    private struct Machine {
        let folder: String
        let installation: Installation
        let settings: SettingValues
        let processes: [RunningProcess]

        func bus() async throws -> [Finding] {
            try await BusCheck(installation: installation, settings: settings, processes: processes, supervisor: nil).result()
                .findings
        }
    }

    private static func settings(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: [])
    }

    /// Runs a body with a relay, instance 2, and a message log that never listen. Their state directory is only in their configuration
    /// file.
    ///
    /// - Parameter isPackaged: Whether the installation looks like that of the packages.
    private func withSilentServices(
        isPackaged: Bool = false, _ body: (Machine, _ relay: ChildProcess) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let services: [ServiceEntry] = [.fcmRelay, .messageLog]
            for service in services {
                try await ExecutableFile.copy("/bin/sleep", to: "\(folder)/\(service.executable)")
            }
            if isPackaged { try Data().write(to: URL(filePath: folder + "/machine.env")) }
            try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: false)
            let file = folder + "/msi.env"
            try Data("MSI_STATE_DIR=\(folder)/state\nMSI_RUNTIME_DIR=\(folder)\n".utf8).write(to: URL(filePath: file))
            let pattern = "ipc://\(folder)/fcm-relay@*.sock"
            let environment = ["MSI_CONFIG_FILE": file, "MSI_FCM_RELAY_ENDPOINTS": pattern]
            let own: [String: String] = ["msi-fcm-relay": "ipc://\(folder)/fcm-relay@2.sock"]
            var children: [ChildProcess] = []
            for service in services {
                let listen = own[service.executable].map { [Setting<String>.listen(service).declaration.name: $0] } ?? [:]
                children.append(
                    try await ChildProcess(
                        URL(filePath: "\(folder)/\(service.executable)"), ["600"],
                        environment: environment.merging(listen) { $1 },
                        logFile: "\(folder)/\(service.executable).log"))
            }
            let installation = Installation(executables: folder, environment: environment, isRoot: false)
            let settings = try await Self.settings(environment)
            try await perform {
                let processes = await RunningProcess.all(of: installation, settings)
                let machine = Machine(folder: folder, installation: installation, settings: settings, processes: processes)
                try await body(machine, children[0])
            } finally: {
                for child in children { await child.kill() }
            }
        }
    }

    @Test("A process is found by the state directory that it uses, even if only the configuration file names it")
    func stateDirectory() async throws {
        try await withSilentServices { machine, relay in
            #expect(machine.processes.map(\.service.executable).sorted() == ["msi-fcm-relay", "msi-message-log"])
            #expect(machine.processes.contains { $0.id == relay.identifier })
            // The same folder under another name.
            let link = machine.folder + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: machine.folder + "/state")
            let same = try await Self.settings(["MSI_STATE_DIR": link])
            #expect(await RunningProcess.all(of: machine.installation, same).count == 2)
            let other = try await Self.settings(["MSI_STATE_DIR": machine.folder])
            #expect(await RunningProcess.all(of: machine.installation, other).isEmpty)
        }
    }

    @Test("A service that has no socket yet is said to start, and no setting is to be changed")
    func starting() async throws {
        try await withSilentServices(isPackaged: true) { machine, relay in
            let findings = try await machine.bus()
            #expect(findings.count == 2, "\(findings)")
            let finding = try #require(findings.first { $0.found.contains("msi-fcm-relay") })
            #expect(finding.found.contains("runs (process \(relay.identifier)) and does not take commands at"), "\(finding)")
            #expect(finding.found.contains("fcm-relay@2.sock yet"), "\(finding)")
            // No unit runs it, and msi up keeps no log of it.
            #expect(finding.advice?.hasPrefix("its output says what it waits for") == true, "\(finding)")
            #expect(!findings.contains { "\($0)".contains("MSI_FCM_RELAY_ENDPOINTS") }, "\(findings)")
        }
    }

    @Test(
        "What a service says on the bus about its settings is named: a changed file, what waits for a restart, a refused reload")
    func settingsInEffect() async throws {
        try await withSilentServices { machine, relay in
            func findings(_ status: SettingsStatus) async -> [Finding] {
                let report = ServiceReport(
                    process: relay.identifier, settings: status, overridden: [], warnings: [], lastError: nil)
                return await SettingsInEffectCheck(
                    installation: machine.installation, settings: machine.settings, processes: machine.processes,
                    reports: [relay.identifier: report]
                ).findings()
            }
            let behind = await findings(SettingsStatus(read: 1, needingRestart: ["MSI_A", "MSI_B"]))
            #expect(
                behind.map(\.found) == [
                    "msi-fcm-relay still works with the old values of MSI_A, MSI_B",
                    "\(machine.folder)/msi.env has changed since these have read it: msi-fcm-relay",
                ])
            #expect(behind.first?.advice == "end process \(relay.identifier), and start it again")
            let refused = await findings(SettingsStatus(read: .max, mistake: "MSI_C is wrong"))
            #expect(refused.map(\.found) == ["msi-fcm-relay has refused the settings at its last reload: MSI_C is wrong"])
            #expect(refused.first?.advice?.hasSuffix("kill -HUP \(relay.identifier)") == true)
            #expect(await findings(SettingsStatus(read: .max)) == [])
        }
    }

    @Test("A process that is stopped before it has a socket is named")
    func stopped() async throws {
        try await withSilentServices { machine, relay in
            relay.signal(SIGSTOP)
            try await eventually("a stopped process") { try relay.hasStopped }
            let processes = await RunningProcess.all(of: machine.installation, machine.settings)
            let check = BusCheck(
                installation: machine.installation, settings: machine.settings, processes: processes, supervisor: nil)
            let findings = try await check.result().findings
            #expect(
                findings.contains {
                    $0.found.contains("process \(relay.identifier) is stopped") && $0.advice?.contains("kill -CONT") == true
                }, "\(findings)")
            relay.signal(SIGCONT)
        }
    }

    @Test("Advice names the unit of the instance that the socket belongs to")
    func instance() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(filePath: folder + "/machine.env"))
            let installation = Installation(executables: folder, environment: [:], isRoot: true)
            func finding(_ service: ServiceEntry, _ endpoint: String) async throws -> String {
                let instance = BusInstance(service, at: endpoint, .stale)
                let advice = BusAdvice(
                    instance: instance, installation: installation, settings: try await Self.settings([:]), processes: [],
                    supervisor: nil)
                return "\(await advice.findingWithoutListener())"
            }
            for (endpoint, unit) in [
                ("ipc:///run/msi/fcm-relay@2.sock", "msi-fcm-relay@2"),
                ("ipc:///run/msi/fcm-relay@north.sock", "msi-fcm-relay@north"),
                ("ipc:///run/msi/fcm-relay@*.sock", "msi-fcm-relay@1"), ("ipc:///run/msi/relay.sock", "msi-fcm-relay@1"),
            ] {
                let text = try await finding(.fcmRelay, endpoint)
                #expect(text.contains("systemctl start \(unit);") && text.contains("journalctl -u \(unit)."), "\(text)")
            }
            #expect(try await finding(.cube, "ipc:///run/msi/cube.sock").contains("systemctl start msi-cube;"))
        }
    }
}
