import FoundationEssentials
import ServiceKit
import Subprocess

/// Why a service does not run, as its manager knows it: systemd, or `msi up`.
struct EndedService: Sendable {
    /// What it says about the end, for a sentence after the service's name.
    let found: String
    let advice: String

    /// - Parameters:
    ///   - endpoint: The instance's endpoint.
    ///   - supervisor: The `msi up` that runs; `nil` if none does.
    /// - Returns: `nil` if the manager knows of no end, for example since the service was not started.
    static func look(
        _ service: ServiceEntry, at endpoint: String = "", of installation: Installation, _ settings: SettingValues,
        supervisor: RunningSupervisor?
    ) async -> EndedService? {
        switch installation.layout {
        case .packages: return await unit(installation.unit(of: service, at: endpoint))
        case .build:
            guard let folder = try? settings.value(.stateDirectory) else { return nil }
            return supervised(
                by: supervisor, StatusFile(of: service, in: folder + "/log").read(),
                log: installation.log(of: service, at: endpoint, stateDirectory: folder))
        }
    }

    // MARK: msi up

    /// - Parameters:
    ///   - supervisor: The `msi up` that runs; `nil` if none does.
    ///   - status: What the last `msi up` has noted about the service.
    static func supervised(by supervisor: RunningSupervisor?, _ status: String?, log: String) -> EndedService? {
        if let supervisor, supervisor.isStopped {
            return EndedService(
                found: "is not running, and msi up (process \(supervisor.id)) is stopped by a signal, so it starts nothing again",
                advice: "kill -CONT \(supervisor.id)")
        }
        guard let status, let end = StatusFile.end(in: status) else { return nil }
        guard let supervisor else {
            return EndedService(
                found: "does not run. The last msi up has noted: \(end)",
                advice: "correct what it names, and start everything with deploy/run, or msi up; its whole log is \(log)")
        }
        return EndedService(
            found: "ends each time msi up starts it: \(end)",
            advice: "correct what it names; msi up (process \(supervisor.id)) keeps restarting it, and its whole log is \(log)")
    }

    // MARK: systemd

    private static func unit(_ unit: String) async -> EndedService? {
        let result = try? await Subprocess.run(
            .name("systemctl"),
            arguments: ["show", "--property=ActiveState,SubState,Result,NRestarts,ExecMainStatus,InvocationID", unit],
            output: .string(limit: 1 << 16), error: .discarded)
        guard let output = result?.standardOutput, var ended = parse(output, unit: unit) else { return nil }
        let bySignal = ["signal", "core-dump"].contains(value("Result", in: output))
        if let run = value("InvocationID", in: output), let words = await Journal.lastWords(of: run, bySignal: bySignal) {
            ended = EndedService(found: "\(ended.found): \(words)", advice: ended.advice)
        }
        return ended
    }

    /// - Parameter output: Lines `NAME=value` of `systemctl show`.
    /// - Returns: `nil` for a unit that runs, or that nothing has started.
    static func parse(_ output: String, unit: String) -> EndedService? {
        let result = value("Result", in: output) ?? ""
        let reason = result == "exit-code" ? "exit status \(value("ExecMainStatus", in: output) ?? "unknown")" : result
        let restarts = value("NRestarts", in: output).flatMap { Int($0) } ?? 0
        let times = restarts > 0 ? ", after \(restarts) restart\(restarts == 1 ? "" : "s")" : ""
        let log = "journalctl -u \(unit)"
        switch (value("ActiveState", in: output), value("SubState", in: output)) {
        case ("failed", _):
            return EndedService(
                found: "is not running: its unit \(unit) has failed (\(reason)\(times))",
                advice: "correct what it names (\(log)); then systemctl reset-failed \(unit) && systemctl start \(unit)")
        case ("activating", "auto-restart"):
            return EndedService(
                found: "ends each time systemd starts it (\(reason)\(times))",
                advice: "correct what it names (\(log)); systemd starts \(unit) again by itself")
        default: return nil
        }
    }
    /// - Returns: `nil` for an empty value.
    private static func value(_ name: String, in output: String) -> String? {
        let line = output.split(separator: "\n").first { $0.hasPrefix(name + "=") }
        return line.map { String($0.dropFirst(name.count + 1)) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// What systemd says about units that run. Every user may ask.
enum UnitState {
    /// What the services have told systemd about themselves, by their units. Empty if systemd does not answer.
    static func statuses(of units: [String]) async -> [String: String] {
        guard !units.isEmpty, let output = await output(["show", "--property=Id,StatusText"] + units) else { return [:] }
        return parse(output)
    }

    /// Whether a unit runs.
    static func isActive(_ unit: String) async -> Bool { await output(["is-active", unit]) != nil }

    private static func output(_ arguments: [String]) async -> String? {
        let result = try? await Subprocess.run(
            .name("systemctl"), arguments: Arguments(arguments), output: .string(limit: 1 << 18), error: .discarded)
        return result?.terminationStatus.isSuccess == true ? result?.standardOutput : nil
    }

    /// - Parameter output: Blocks of `Id=…` and `StatusText=…`, in any order, separated by empty lines.
    static func parse(_ output: String) -> [String: String] {
        output.split(separator: "\n\n").reduce(into: [:]) { statuses, block in
            let lines = block.split(separator: "\n")
            func value(_ name: String) -> String? {
                lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
            }
            if let id = value("Id") { statuses[id] = value("StatusText") }
        }
    }
}
