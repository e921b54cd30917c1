import FoundationEssentials

/// The conclusion of an experiment.
package protocol ExperimentVerdict: Sendable {
    var isGood: Bool { get }
    /// The lines that are printed before the summary.
    var report: [String] { get }
    /// One line.
    var summary: String { get }
}

/// Runs an experiment in a new folder, and prints its verdict. The folder stays if the verdict is bad or missing.
///
/// - Parameters:
///   - name: A part of the folder's name.
///   - journal: Gets a line if the experiment is interrupted or fails.
///   - body: Gets the folder.
/// - Returns: The exit status: 0 for a good verdict, 1 for a bad or missing one, and 128 plus the signal's number after a signal.
package func runExperiment(
    named name: String, _ journal: Journal, _ body: @escaping @Sendable (String) async throws -> any ExperimentVerdict
) async throws -> Int32 {
    // Short, because the path of a Unix socket may have at most 107 bytes.
    let folder = "/tmp/msi-\(name)-" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    do {
        let verdict = try await untilInterrupted { try await body(folder) }
        for line in verdict.report { print(line) }
        if verdict.isGood {
            try FileManager.default.removeItem(atPath: folder)
        } else {
            print("The databases and logs are kept in \(folder)")
        }
        print(verdict.summary)
        return verdict.isGood ? 0 : 1
    } catch let interruption as Interruption {
        try FileManager.default.removeItem(atPath: folder)
        journal.say("interrupted; everything is stopped")
        return 128 + interruption.signal
    } catch {
        journal.say("no verdict: \(error)")
        print("The databases and logs are kept in \(folder)")
        return 1
    }
}
