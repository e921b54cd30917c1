import FoundationEssentials
import TestSupport

/// A process that the idle benchmark starts, with the time that its start took.
struct IdleProcess {
    let name: String
    let process: ChildProcess
    /// From before the process existed until it said that it is ready, in milliseconds.
    let start: Double

    /// Starts it, and blocks until it is ready.
    init(
        _ name: String, _ executable: String, _ arguments: [String] = [], settings: [String: String], in folder: String,
        until isReady: (ChildProcess) throws -> Void
    ) async throws {
        self.name = name
        let begin = ContinuousClock.now
        process = try await ChildProcess(
            URL(filePath: executable), arguments, environment: settings, logFile: "\(folder)/\(name).log")
        try isReady(process)
        start = (ContinuousClock.now - begin).milliseconds
    }
}

extension Duration {
    fileprivate var milliseconds: Double {
        Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15
    }
}
