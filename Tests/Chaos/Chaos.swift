import ArgumentParser
import TestSupport

/// Posts messages and logs pushes to the product while its processes, the network and the machine fail, and checks what
/// happened to each of them.
@main
struct Chaos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Tests/Chaos/run",
        abstract: "Injects faults of processes, network and machine while messages are posted, and checks every message."
    )

    @Option(help: "The database of the services: \(Store.allCases.map(\.rawValue).joined(separator: " or ")).")
    var store = Store.sqlite

    @Option(help: "How long faults are injected. The run takes about half a minute more.")
    var minutes = 1.0

    @Option(help: "The seed of the faults: the same seed makes the same faults at the same times. Random by default.")
    var seed = UInt64.random(in: 1...9_999)

    @Option(
        help: """
            How many phones count what reaches them; 0 for none. They keep everything in memory: twenty phones about 300 MB an hour.
            """)
    var phones = 20

    @Option(help: "How many browsers count the pushes that reach them, at two push services that fail at times; 0 for none.")
    var browsers = 40

    @Option(help: "How many students use the hub, and how many of the phones' owners sign in at most; 0 for none.")
    var students = 6

    @Option(help: "How many students study together, with a professor and two assistants; 0 for none. None with --beside.")
    var studying = 6

    @Option(
        help: ArgumentHelp(
            "Another version runs beside this one: a folder with its executables, as Tests/Chaos/executables-of prints it.",
            valueName: "folder"),
        transform: { folder in
            do throws(OtherVersion.Unusable) { return try OtherVersion(in: folder) } catch { throw ValidationError("\(error)") }
        })
    var beside: OtherVersion?

    func validate() throws {
        guard minutes > 0, minutes <= 7 * 24 * 60 else {
            throw ValidationError("--minutes: expected more than 0, and a week at most")
        }
        guard (0...1_000).contains(phones) else { throw ValidationError("--phones: expected 0 to 1000") }
        guard (0...5_000).contains(browsers) else { throw ValidationError("--browsers: expected 0 to 5000") }
        guard (0...100).contains(students) else { throw ValidationError("--students: expected 0 to 100") }
        guard (0...40).contains(studying) else { throw ValidationError("--studying: expected 0 to 40") }
    }

    func run() async throws {
        let journal = Journal()
        journal.say(
            "chaos: --store \(store.rawValue) --minutes \(minutes) --seed \(seed) --phones \(phones) --browsers \(browsers) "
                + "--students \(students) --studying \(studying)")
        if let beside { journal.say("beside the version in \(beside.folder)") }
        let (store, length, seed) = (store, Duration.seconds(minutes * 60), seed)
        let (phones, browsers, students, beside) = (phones, browsers, students, beside)
        // Another version may not have the service, and what its gateway does not know would not be answered.
        let studying = beside == nil ? studying : 0
        let status = try await runExperiment(named: "chaos", journal) { folder in
            try await Experiment(
                store: store, length: length, seed: seed, phones: phones, browsers: browsers, students: students,
                studying: studying, other: beside, folder: folder, journal: journal
            ).run()
        }
        guard status == 0 else { throw ExitCode(status) }
    }
}

extension Verdict: ExperimentVerdict {
    private static let maxProblems = 50

    var report: [String] {
        explained.sorted { $0.key < $1.key }.map { explanation, count in "\(count) copies because \(explanation)" }
            + problems.prefix(Self.maxProblems)
            + (problems.count > Self.maxProblems ? ["and \(problems.count - Self.maxProblems) more"] : [])
            + [
                audit?.summary, cube.summary, students?.summary, study?.summary, phones?.summary, browsers?.summary,
                broadcasts.summary, pushes.summary,
            ].compactMap(\.self)
    }
}
