import DurableFiles
import FoundationEssentials
import ServiceKit

/// The process of `msi up` that runs the services of a state directory.
struct RunningSupervisor: Sendable {
    let id: Int32
    /// Whether a signal has stopped it: then it starts no service again.
    let isStopped: Bool

    /// - Returns: `nil` if there is none.
    static func find(_ installation: Installation, _ settings: SettingValues) -> RunningSupervisor? {
        guard installation.layout == .build, let folder = try? settings.value(.stateDirectory) else { return nil }
        let holder = StateLock.holders(of: .control, in: folder).first { $0.program == "msi up" }
        return holder.map { RunningSupervisor(id: $0.process, isStopped: $0.isStopped) }
    }

    /// What this command does not see, if an `msi up` of the same build runs with another state directory, and none with that of the settings.
    static func elsewhere(_ installation: Installation, _ settings: SettingValues) async -> Finding? {
        guard installation.layout == .build, let folder = try? settings.value(.stateDirectory) else { return nil }
        let ids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
        for id in ids.sorted() {
            guard RunningProcess.program(of: id)?.path == installation.executables + "/msi", let process = ProcessFiles(id),
                process.arguments.first == "up"
            else { continue }
            var mistakes: [String] = []
            let own = await SettingValues(environment: process.environment, mistakes: &mistakes)
            guard let used = try? own.value(.stateDirectory), !RunningProcess.isSameFile(used, folder) else { continue }
            let name = Setting.stateDirectory.declaration.name
            return .warning(
                .installation,
                "msi up (process \(id)) runs with the state directory \(used), and this command looks at \(folder)",
                "for that one: \(name)=\(used.shellQuoted) msi doctor, with the ports that it was started with")
        }
        return nil
    }
}
