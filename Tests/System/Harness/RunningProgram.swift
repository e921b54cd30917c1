import FoundationEssentials
import Glibc
import ProductHarness
import Subprocess
import Synchronization
import SystemPackage

/// A programme that a test runs, and what it has said so far. ``withProgram(_:arguments:environment:stopTimeout:_:)`` starts
/// and ends it.
final class RunningProgram: Sendable {
    let processID: Int32
    private let said = Mutex<[String]>([])
    /// Whether its output has ended: what a programme has said is read a moment after it has ended.
    private let isSilent = Atomic(false)

    fileprivate init(processID: Int32) {
        self.processID = processID
    }

    /// The lines of its standard output and standard error.
    var lines: [String] { said.withLock { $0 } }

    var isRunning: Bool { ProcessTable.isRunning(processID) }

    /// Its children that have not ended.
    var children: [ProcessTable.Entry] { ProcessTable.children(of: processID) }

    /// Waits for a line.
    ///
    /// - Throws: ``TooLate`` when it does not come in time, or cannot come any more because the programme has ended.
    func line(within limit: Duration, where isRight: (String) -> Bool) async throws -> String {
        try await eventually("the line, among:\n\(lines.joined(separator: "\n"))", within: limit) {
            let isSilent = isSilent.load(ordering: .acquiring)
            if let line = lines.first(where: isRight) { return line }
            if isSilent { throw TooLate("it ended without the line; it said:\n\(lines.joined(separator: "\n"))") }
            return nil
        }
    }

    /// Sends a signal, such as `SIGINT`.
    func signal(_ signal: Int32) {
        // It fails only where the process has ended, which is what a signal is for.
        _ = kill(processID, signal)
    }

    /// Waits for its end.
    func end(within limit: Duration) async throws {
        try await eventually("the end of process \(processID)", within: limit) { !isRunning }
    }

    fileprivate func heard(_ line: String) {
        said.withLock { $0.append(line) }
    }

    fileprivate func heardAll() {
        isSilent.store(true, ordering: .releasing)
    }
}

/// How a programme ended, and all that it said.
struct ProgramEnd<Value: Sendable>: Sendable {
    let value: Value
    let status: TerminationStatus
    let lines: [String]

    /// The exit status; `nil` when a signal ended it.
    var exitCode: Int32? {
        if case .exited(let code) = status { code } else { nil }
    }
}

/// Runs a programme, and sees to its end: when the body is over and the programme is not, by SIGINT, as Ctrl-C would, and if
/// that takes too long by SIGKILL.
///
/// - Parameters:
///   - environment: Added to the test's own, which is passed on without the settings of the product.
/// - Throws: What the body throws, or ``TooLate`` if SIGKILL was needed.
func withProgram<Value: Sendable>(
    _ path: String, arguments: [String] = [], environment: [String: String] = [:],
    stopTimeout: Duration = .seconds(30), _ body: @Sendable (RunningProgram) async throws -> Value
) async throws -> ProgramEnd<Value> {
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MSI_") }
    variables.merge(environment) { _, own in own }
    let result = try await Subprocess.run(
        .path(FilePath(path)), arguments: Arguments(arguments),
        environment: .custom(
            Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })),
        input: .none, output: .sequence, error: .combinedWithOutput
    ) { execution in
        let program = RunningProgram(processID: execution.processIdentifier.value)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { program.heardAll() }
                for try await line in execution.standardOutput.strings() { program.heard(line) }
            }
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await body(program))
            } catch {
                outcome = .failure(error)
            }
            let stop = await Task { try await program.stop(within: stopTimeout) }.result
            try await group.waitForAll()
            let value = try outcome.get()
            try stop.get()
            return (value, program)
        }
    }
    let (value, program) = result.closureResult
    return ProgramEnd(value: value, status: result.terminationStatus, lines: program.lines)
}

extension RunningProgram {
    fileprivate func stop(within limit: Duration) async throws {
        guard isRunning else { return }
        signal(SIGINT)
        do {
            try await end(within: limit)
        } catch {
            signal(SIGKILL)
            throw error
        }
    }
}
