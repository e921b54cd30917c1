import ArgumentParser
import FoundationEssentials
import TestSupport

/// Keeps the relay under load while FCM's faults change, and checks whether its use of resources grows.
@main
struct Endurance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Tests/Endurance/run",
        abstract: "Keeps the relay under load while FCM's faults change, and checks its memory, file descriptors and threads.")

    @Option(help: "The duration of the load. The run takes about half a minute more.")
    var minutes = 10.0

    @Option(help: "Messages a second.")
    var rate = 60.0

    @Option(help: "The random seed for the order of the faults and their requests. By default it is random.")
    var seed = UInt64.random(in: 1...9_999)

    func validate() throws {
        guard minutes > 0, minutes <= 24 * 60 else { throw ValidationError("--minutes: expected more than 0, and a day at most") }
        guard rate > 0, rate <= 5_000 else { throw ValidationError("--rate: expected more than 0, and 5000 at most") }
    }

    func run() async throws {
        let journal = Journal()
        journal.say("endurance: --minutes \(minutes) --rate \(rate) --seed \(seed)")
        // Short, because the path of a Unix socket may have at most 107 bytes.
        let folder = "/tmp/msi-endurance-" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let experiment = Experiment(
            length: .seconds(minutes * 60), rate: rate, seed: seed, folder: folder, journal: journal)
        do {
            let verdict = try await untilInterrupted { try await experiment.run() }
            for problem in verdict.problems { print(problem) }
            if !verdict.isGood { print("The logs are kept in \(folder)") }
            print(verdict.summary)
            guard verdict.isGood else { throw ExitCode.failure }
            try FileManager.default.removeItem(atPath: folder)
        } catch let interruption as Interruption {
            try FileManager.default.removeItem(atPath: folder)
            journal.say("interrupted; everything is stopped")
            throw ExitCode(128 + interruption.signal)
        } catch let error where !(error is ExitCode) {
            journal.say("no verdict: \(error)")
            print("The logs are kept in \(folder)")
            throw ExitCode.failure
        }
    }
}
