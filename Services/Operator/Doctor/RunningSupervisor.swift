import DurableFiles
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
}
