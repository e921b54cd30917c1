import ArgumentParser
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
        let (length, rate, seed) = (Duration.seconds(minutes * 60), rate, seed)
        let status = try await runExperiment(named: "endurance", journal) { folder in
            try await Experiment(length: length, rate: rate, seed: seed, folder: folder, journal: journal).run()
        }
        guard status == 0 else { throw ExitCode(status) }
    }
}

extension Verdict: ExperimentVerdict {
    var report: [String] { problems }
}
