import NIOHTTP1
import TestSupport

/// A running product, the subjects to post to, and the phone that gets the messages.
struct MessageTarget {
    let stack: MessageStack
    let driver: GatewayDriver
    let subjects: [SubjectPath]
    /// `nil` if the relay sends to a sink.
    let phone: BenchmarkPhone?
    /// How long the product works on messages after they are relayed: the search index and the audit log follow them.
    let afterwork: Duration
}

/// The counts and times of all rounds of one load.
struct MessageRounds {
    /// The time limit for the last messages' arrival at the phone.
    private static let drainTimeout = Duration.seconds(180)

    let clients: Int
    /// Posts a second that are due at equal intervals; `nil` if each client sends its next one when the previous one is answered.
    let rate: Double?
    private(set) var counts = MessageFigures.Counts()
    private var rates: [Double] = []
    private var acceptedRates: [Double] = []
    private var answers: [Latency] = []
    private var arrivals: [Latency] = []
    private var processorTimes: [(name: String, seconds: Double)] = []

    init(clients: Int, rate: Double? = nil) {
        self.clients = clients
        self.rate = rate
    }

    /// Posts for some seconds, waits for the phone and the archive, and counts.
    mutating func run(_ target: MessageTarget, seconds: Double) async throws {
        target.phone?.forget()
        _ = try await target.stack.emulator?.call(.DELETE, "/emulator/counts")
        let before = try StackUsage(of: target.stack)
        let answers = try await target.driver.post(to: target.subjects, clients: clients, rate: rate, seconds: seconds)
        if let phone = target.phone {
            // A message that has not come by then is lost, and is counted below.
            try? await eventually(within: Self.drainTimeout) { phone.completed >= answers.count }
        }
        try await eventually("the archive is at rest", within: Self.drainTimeout) { try await target.stack.isArchiveAtRest() }
        let relayed = MonotonicClock.nanoseconds
        try await Task.sleep(for: target.afterwork)
        note(try StackUsage(of: target.stack), since: before)
        counts.accepted += answers.count
        if let emulator = target.stack.emulator {
            counts.relayed += try await emulator.counts().distinct / RunningRelay.sendsOfCommand
        }
        note(answers, relayed: relayed, at: target.phone)
    }

    private mutating func note(_ usage: StackUsage, since before: StackUsage) {
        let times = zip(usage.processorTimes, before.processorTimes).map { now, before in
            (name: now.name, seconds: now.seconds - before.seconds)
        }
        processorTimes = processorTimes.isEmpty ? times : zip(processorTimes, times).map { ($0.name, $0.seconds + $1.seconds) }
    }

    /// - Parameter relayed: When all outcomes were stored.
    private mutating func note(_ answers: [GatewayDriver.Answer], relayed: UInt64, at phone: BenchmarkPhone?) {
        guard let first = answers.map(\.began).min(), let lastAnswer = answers.map(\.answered).max() else { return }
        func perSecond(_ count: Int, until end: UInt64) -> Double { Double(count) / (Double(end - first) / 1e9) }
        self.answers.append(Latency(answers.map { Double($0.answered - $0.began) / 1e6 }))
        acceptedRates.append(perSecond(answers.count, until: lastAnswer))
        guard let phone else { return rates.append(perSecond(answers.count, until: relayed)) }
        let delivered = answers.compactMap { answer in phone.completion(of: answer.msiKey).map { (answer.answered, $0) } }
        counts.delivered += delivered.count
        rates.append(perSecond(delivered.count, until: delivered.map(\.1).max() ?? lastAnswer))
        // The phone may have a message before the benchmark has read the answer.
        arrivals.append(Latency(delivered.map { answered, arrived in arrived < answered ? 0 : Double(arrived - answered) / 1e6 }))
    }

    var figures: MessageFigures.Load {
        MessageFigures.Load(
            inFlight: clients, requestedRate: rate, rate: rates.median.rounded(), acceptedRate: acceptedRates.median.rounded(),
            answer: .median(answers), phone: arrivals.isEmpty ? nil : .median(arrivals), counts: counts,
            processes: processorTimes.map { name, seconds in
                MessageFigures.Process(
                    name: name, processorTime: (seconds / Double(max(counts.accepted, 1)) * 1e6).rounded())
            })
    }
}
