import FoundationEssentials
import Schemas
import Subprocess

/// systemd's journal, in which services that run as units log with a field for each key.
enum Journal {
    private static let maxBytes = 64 << 20

    /// Whether the machine has units of the product.
    static var hasUnits: Bool {
        ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"].contains { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.contains { $0.hasPrefix("msi-") && $0.hasSuffix(".service") }
        }
    }

    /// The entries about messages, pushes and traces.
    ///
    /// - Throws: ``InputFailure`` if `journalctl` cannot be run, or fails.
    static func records(keys: Set<String>, traceIDs: Set<String>) async throws -> [LogRecord] {
        let matches =
            keys.sorted().flatMap { ["MSI_KEY=\($0)", "MSI_PUSH_ID=\($0)"] } + traceIDs.sorted().map { "MSI_TRACE_ID=\($0)" }
        // A plus between matches of different fields means "or".
        let arguments = ["--output=json", "--no-pager", "--all"] + Array(matches.map { [$0] }.joined(separator: ["+"]))
        let result: (output: String, error: String, isSuccess: Bool)
        do {
            let ended = try await run(
                .name("journalctl"), arguments: Arguments(arguments), output: .string(limit: maxBytes),
                error: .string(limit: 1 << 16))
            result = (ended.standardOutput, ended.standardError, ended.terminationStatus.isSuccess)
        } catch {
            throw InputFailure(description: "journalctl cannot be run: \(error)")
        }
        // Without a match it fails as well, and says nothing. A user who may not read all of the journal gets a hint, and no failure.
        let hint = result.error.isEmpty || result.error.hasPrefix("-- No entries") ? nil : result.error.onOneLine(maxLength: 300)
        if let hint { throw InputFailure(description: "journalctl: \(hint)") }
        return result.output.split(separator: "\n").compactMap { LogRecord(journal: String($0)) }
    }

    /// Why a run of a unit has ended, by its last lines: the newest error, else the newest line. A line that was not logged, such as one
    /// about a mistake in the settings, counts as an error.
    ///
    /// After a signal only a line that was not logged counts: the process could log nothing more.
    ///
    /// - Parameters:
    ///   - invocation: The run's identifier, as systemd gives it.
    ///   - bySignal: Whether a signal has ended the run.
    /// - Returns: `nil` if there is none, or this user may not read it.
    static func lastWords(of invocation: String, bySignal: Bool) async -> String? {
        let ended = try? await run(
            .name("journalctl"),
            arguments: ["_SYSTEMD_INVOCATION_ID=\(invocation)", "--lines=50", "--output=json", "--no-pager", "--all"],
            output: .string(limit: 1 << 20), error: .discarded)
        return lastWords(in: (ended?.standardOutput ?? "").split(separator: "\n").map(String.init), bySignal: bySignal)
    }

    /// - Parameter lines: Entries, as `journalctl --output=json` writes them.
    static func lastWords(in lines: [String], bySignal: Bool = false) -> String? {
        let words = lines.compactMap { line -> (isError: Bool, text: String)? in
            guard let record = LogRecord(journal: line) else { return nil }
            // Written to standard error: a line of the log if it has that form.
            let isWritten = line.contains(#""_TRANSPORT":"stdout""#)
            guard let logged = isWritten ? LogRecord(line: record.text) : record else { return (true, record.text) }
            if bySignal { return nil }
            return (isError(logged.level), logged.text)
        }
        return (words.last(where: \.isError) ?? words.last)?.text.onOneLine(maxLength: 300)
    }

    private static func isError(_ level: String) -> Bool { ["error", "critical"].contains(level) }
}
