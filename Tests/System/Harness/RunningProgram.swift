import FoundationEssentials
import Glibc
import TestSupport

/// A program that a test runs, and its output so far. ``withProgram(_:arguments:environment:_:)`` starts and ends it.
struct RunningProgram: Sendable {
    private let process: ChildProcess

    fileprivate init(_ process: ChildProcess) {
        self.process = process
    }

    /// The complete lines of its standard output and standard error.
    var lines: [String] { process.log.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }

    var isRunning: Bool { process.isRunning }

    /// Its children that have not ended.
    var children: [ProcessTable.Entry] { ProcessTable.children(of: process.identifier) }

    /// Waits for a matching line of the output.
    ///
    /// - Throws: ``TooLate`` if the line does not come in time, or the program ends without it.
    func line(within timeout: Duration = .seconds(120), where isRight: (String) -> Bool) async throws -> String {
        try await eventually("the line, among:\n\(lines.joined(separator: "\n"))", within: timeout) {
            let isRunning = isRunning
            if let line = lines.first(where: isRight) { return line }
            if !isRunning { throw TooLate("it ended without the line; it wrote:\n\(lines.joined(separator: "\n"))") }
            return nil
        }
    }

    /// Sends a signal, such as `SIGINT`, unless the program has ended.
    func signal(_ signal: Int32) {
        process.signal(signal)
    }

    /// Waits for its end.
    func end(within timeout: Duration = .seconds(120)) async throws {
        try await eventually("the end of process \(process.identifier)", within: timeout) { !isRunning }
    }

    /// Stops it by SIGINT, as Ctrl-C does, and by SIGKILL if that takes too long.
    ///
    /// - Throws: ``TooLate`` if SIGKILL was necessary.
    fileprivate func stop() async throws {
        signal(SIGINT)
        do {
            try await end()
        } catch {
            await process.kill()
            throw error
        }
    }
}

/// The end of a program, and its whole output.
struct ProgramEnd<Value: Sendable>: Sendable {
    let value: Value
    /// The exit status, as from ``ChildProcess/end()``.
    let status: Int32
    let lines: [String]

    /// The exit status; `nil` if a signal ended the program.
    var exitCode: Int32? { status < 128 ? status : nil }
}

/// Runs a program. If it is still running after the body, it is stopped as by Ctrl-C.
///
/// - Parameters:
///   - path: The path, or the name of one of the product's executables.
///   - environment: Variables in addition to the test's own environment, from which the product's settings are removed.
/// - Throws: The body's error, or ``TooLate`` if the program had to be killed.
func withProgram<Value: Sendable>(
    _ path: String, arguments: [String] = [], environment: [String: String] = [:],
    _ body: @Sendable (RunningProgram) async throws -> Value
) async throws -> ProgramEnd<Value> {
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MSI_") }
    variables.merge(environment) { _, own in own }
    let file = try path.contains("/") ? path : BuiltProduct.path(of: path)
    return try await withTemporaryFolder { [variables] folder in
        let process = try await ChildProcess(
            URL(filePath: file), arguments, environment: variables, logFile: folder + "/output")
        let program = RunningProgram(process)
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body(program))
        } catch {
            outcome = .failure(error)
        }
        // Even if the test is cancelled.
        let stop = await Task { try await program.stop() }.result
        let status = await process.end()
        let value = try outcome.get()
        try stop.get()
        return ProgramEnd(value: value, status: status, lines: program.lines)
    }
}

/// Runs a program to its end.
func runProgram(
    _ path: String, _ arguments: [String] = [], environment: [String: String] = [:]
) async throws -> ProgramEnd<Void> {
    try await withProgram(path, arguments: arguments, environment: environment) { try await $0.end() }
}

/// Runs `msi` for a state directory to its end.
func msi(_ arguments: [String], in state: String, _ settings: [String: String] = [:]) async throws -> ProgramEnd<Void> {
    try await runProgram("msi", arguments, environment: settings.merging(["MSI_STATE_DIR": state]) { $1 })
}
