import FoundationEssentials
import JSON
import TestSupport

/// Measures how fast a message reaches ten thousand phones that are subscribed to one topic, each with the students' app, while the
/// product, FCM's emulator and the phones share this machine.
struct FleetBenchmark {
    private struct Figures: Codable {
        let phones: Int
        /// Until every phone had registered, subscribed and fetched what it had missed, in seconds.
        let setUp: Double
        /// Single messages: from the post until it is in a phone's list, and until it is in the last one's, in milliseconds.
        let p50: Double
        let p99: Double
        let last: Double
        /// A burst: messages a second, from the first post until the last phone has the last message.
        let rate: Double
        /// The processor time of a message with its deliveries, in milliseconds, by process.
        let processorTime: [String: Double]
        let expected: Int
        let doubled: Int
        let missing: Int
    }

    private static let singles = 6
    private static let burst = 10

    let phones: Int
    /// The folder for the product's data.
    let folder: String

    func run() async throws {
        let product = folder + "/product"
        try GatewayBenchmark.makePrivateFolder(product)
        let figures = try await MessageStack.with(database: nil, gateway: GatewayBenchmark.unlimited, in: product) { stack in
            let subject = try await stack.portal.makeSubject("Alert", level: "Forced")
            let (singles, _) = try await FleetProcess.with(phones, at: stack, in: product) { fleet in
                for number in 1...Self.singles {
                    try await post(to: subject, at: stack.portal)
                    try await FleetProcess.reached(by: number, fleet)
                }
            }
            let (burst, (seconds, usage)) = try await FleetProcess.with(phones, at: stack, in: product) { fleet in
                let before = try Usage(of: stack, fleet)
                let begin = ContinuousClock.now
                for _ in 0..<Self.burst { try await post(to: subject, at: stack.portal) }
                try await FleetProcess.reached(by: Self.burst, fleet)
                let seconds = (ContinuousClock.now - begin) / .seconds(1)
                return (seconds, try Usage(of: stack, fleet).since(before, messages: Self.burst))
            }
            return Figures(
                phones: phones, setUp: singles.setUp, p50: singles.p50, p99: singles.p99, last: singles.last,
                rate: (Double(Self.burst) / seconds).twoDigits, processorTime: usage,
                expected: singles.expected + burst.expected, doubled: singles.doubled + burst.doubled,
                missing: singles.missing + burst.missing)
        }
        guard figures.missing == 0, figures.doubled == 0, figures.expected == phones * (Self.singles + Self.burst) else {
            throw PeerFailure(
                description: "expected \(figures.expected), missing \(figures.missing), doubled \(figures.doubled) messages")
        }
        say("\(figures.phones) phones on one topic: milliseconds from the post, and messages a second to all phones")
        say(Table.row("set up", "p50", "p99", "last phone", "messages/s"))
        say(Table.row("\(figures.setUp) s", "\(figures.p50)", "\(figures.p99)", "\(figures.last)", "\(figures.rate)"))
        say("Milliseconds of processor time for a message and its \(phones * 2) deliveries")
        for (name, time) in figures.processorTime.sorted(by: { $0.value > $1.value }) {
            say(Table.row(name, "\(time)", first: 20))
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func post(to subject: SubjectPath, at portal: Portal) async throws {
        let answer = try await portal.post(subject.message())
        guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
    }
}

/// The processor time of a stack and a fleet.
private struct Usage {
    private let seconds: [String: Double]

    init(of stack: MessageStack, _ fleet: ChildProcess) throws {
        var seconds = ["msi-phone fleet": try ProcessUsage(of: fleet.identifier).processorTime]
        for (name, identifier) in stack.processes { seconds[name] = try ProcessUsage(of: identifier).processorTime }
        self.seconds = seconds
    }

    /// Milliseconds for a message, by process.
    func since(_ before: Usage, messages: Int) -> [String: Double] {
        seconds.reduce(into: [:]) {
            $0[$1.key] = (($1.value - before.seconds[$1.key, default: 0]) * 1_000 / Double(messages)).twoDigits
        }
    }
}
