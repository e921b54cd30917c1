import ArgumentParser
import FoundationEssentials
import TestSupport

/// Posts messages to the product while its processes, the network and the machine fail, and checks what happened to each message.
@main
struct Chaos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Tests/Chaos/run",
        abstract: "Injects faults of processes, network and machine while messages are posted, and checks every message."
    )

    @Option(help: "Where the services keep what they are told: \(Store.allCases.map(\.rawValue).joined(separator: " or ")).")
    var store = Store.sqlite

    @Option(help: "How long faults are injected. The run takes about half a minute more.")
    var minutes = 1.0

    @Option(help: "The seed of the faults: the same seed makes the same faults at the same times. Random by default.")
    var seed = UInt64.random(in: 1...9_999)

    func validate() throws {
        guard minutes > 0, minutes <= 7 * 24 * 60 else {
            throw ValidationError("--minutes: expected more than 0, and a week at most")
        }
    }

    func run() async throws {
        let journal = Journal()
        journal.say("chaos: --store \(store.rawValue) --minutes \(minutes) --seed \(seed)")
        // Short, because the path of a Unix socket may have at most 107 bytes.
        let folder = "/tmp/msi-chaos-" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let experiment = Experiment(store: store, length: .seconds(minutes * 60), seed: seed, folder: folder, journal: journal)
        do {
            let verdict = try await untilInterrupted { try await experiment.run() }
            report(verdict, folder: folder)
            guard verdict.isGood else { throw ExitCode.failure }
            try FileManager.default.removeItem(atPath: folder)
        } catch let interruption as Interruption {
            try FileManager.default.removeItem(atPath: folder)
            journal.say("interrupted; everything is stopped")
            throw ExitCode(128 + interruption.signal)
        } catch let error where !(error is ExitCode) {
            journal.say("no verdict: \(error)")
            print("The databases and logs are kept in \(folder)")
            throw ExitCode.failure
        }
    }

    private func report(_ verdict: Verdict, folder: String) {
        for (explanation, count) in verdict.explained.sorted(by: { $0.key < $1.key }) {
            print("\(count) copies because \(explanation)")
        }
        for problem in verdict.problems.prefix(50) { print(problem) }
        if verdict.problems.count > 50 { print("and \(verdict.problems.count - 50) more") }
        if !verdict.isGood { print("The databases and logs are kept in \(folder)") }
        print(verdict.summary)
    }
}
