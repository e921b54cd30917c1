import ArgumentParser
import Base
import FoundationEssentials

/// `msi-load messaging`: loads a hub with students who write to each other.
struct MessagingLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messaging",
        abstract: "Lets students write to their friends, whose apps fetch each message, through the gateway.",
        discussion: """
            It registers the students at the identity emulator of a hub to try out, such as that of deploy/run, and makes neighbours \
            friends. Each message is four calls at most: it is written, the app of its recipient fetches it as after a push, says \
            that it has it, and reads it, with those before it, once in five messages. Its latency is that of all of them.

            Each student may write MSI_MESSAGING_PER_MINUTE messages a minute: with too few students for the --rate, messages fail \
            with 429. With --phone-tokens the first students have a phone at FCM, and the hub sends it a push for each message. Who sees \
            the pushes arrive can compare their times with those in the file of --sent.

            The accounts and the messages that nobody reads stay, so do not use it with a hub of people. Exit status 1 if a call fails.
            """)

    @Option(help: "How many students there are.")
    var users = 100

    @Option(help: "Messages a second.")
    var rate: Double = 20

    @Option(help: "For how many seconds they write.")
    var duration: Double = 60

    @Option(help: "The random seed for what they write.")
    var seed: UInt64 = 1

    @Option(help: "A file with registration tokens of FCM, one a line, for the first students.")
    var phoneTokens: String?

    @Option(help: "A file for the ids of the messages, each with the time when it was sent, in Unix milliseconds.")
    var sent: String?

    @Option(help: "A JSON file for the figures.")
    var json: String?

    @OptionGroup var hub: HubOptions

    func validate() throws {
        guard (2...20_000).contains(users) else { throw ValidationError("--users: expected 2 to 20000 students") }
        guard (0.1...100_000).contains(rate) else { throw ValidationError("--rate: expected 0.1 to 100000 messages a second") }
        // A token of a device works for an hour.
        guard (0.1...3_000).contains(duration) else { throw ValidationError("--duration: expected 0.1 to 3000 seconds") }
        if let json { try LoadOptions.make(json, for: "--json") }
        if let sent { try LoadOptions.make(sent, for: "--sent") }
    }

    func run() async throws {
        try await hub.withHub(for: users) { try await run(at: $0) }
    }

    /// - Returns: Whether no call has failed, and the figures were written.
    private func run(at hub: StudentHub) async throws -> Bool {
        let target = try await MessagingTarget.make(
            users, phones: phones(), at: hub, seed: seed, tell: LoadOptions.tell)
        let load = LoadRun(
            target: target, rate: rate, duration: duration, ramp: 0, inFlight: HubOptions.maxInFlight
        ) { LoadOptions.tell(ReportTable.line($0)) }
        let (totals, seconds) = await load.runUntilInterrupted()
        let report = StudentReport(users: target.users.count, seed: seed, target.times, totals, seconds: seconds)
        print(report)
        if let json { try JSONCoder.encode(report).write(to: URL(filePath: json)) }
        if let sent {
            let lines = target.sent.map { "\($0.id) \($0.at)\n" }
            try Data(lines.joined().utf8).write(to: URL(filePath: sent))
        }
        return report.sent > 0 && report.failed == 0
    }

    private func phones() throws -> [String] {
        guard let phoneTokens else { return [] }
        do {
            return try String(contentsOfFile: phoneTokens, encoding: .utf8).split(separator: "\n").map(String.init)
        } catch {
            throw ValidationError("--phone-tokens: \(phoneTokens) cannot be read: \(error)")
        }
    }
}
