import FoundationEssentials
import ServiceKit

/// The process of `msi up` that runs the services of a state directory.
struct RunningSupervisor: Sendable {
    let id: Int32
    /// Whether a signal has stopped it: then it starts no service again.
    let isStopped: Bool

    /// - Returns: `nil` if there is none, or this user may not see it.
    static func find(_ installation: Installation, _ settings: SettingValues) async -> RunningSupervisor? {
        guard installation.layout == .build, let folder = try? settings.value(.stateDirectory) else { return nil }
        let ids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
        for id in ids.sorted() {
            guard let program = RunningProcess.program(of: id), program.path == installation.executables + "/msi",
                let process = ProcessFiles(id), process.arguments.first == "up"
            else { continue }
            var mistakes: [String] = []
            let own = await SettingValues(environment: process.environment, mistakes: &mistakes)
            guard let used = try? own.value(.stateDirectory), RunningProcess.isSameFolder(used, folder) else { continue }
            return RunningSupervisor(id: id, isStopped: process.isStopped)
        }
        return nil
    }
}
