import FoundationEssentials
import Histogram
import NIOHTTP1
import TestSupport

/// The counts and times of all rounds with one number of clients.
struct MessageRounds {
    /// The time limit for the last messages' arrival at the phone.
    private static let drainTimeout = Duration.seconds(180)

    let clients: Int
    private(set) var counts = MessageFigures.Counts()
    private var rates: [Double] = []
    private var acceptedRates: [Double] = []
    private var answerTimes = histogram()
    private var phoneTimes = histogram()
    private var processes: [MessageFigures.Process] = []

    init(clients: Int) {
        self.clients = clients
    }

    /// Posts for some seconds, waits for the phone and the archive, and counts.
    mutating func run(
        _ stack: MessageStack, _ driver: GatewayDriver, _ phone: BenchmarkPhone, to subjects: [SubjectPath], seconds: Double
    ) async throws {
        phone.forget()
        _ = try await stack.fcm.call(.DELETE, "/emulator/counts")
        let before = try StackUsage(of: stack)
        let answers = try await driver.post(to: subjects, clients: clients, seconds: seconds)
        // A message that has not come by then is lost, and is counted below.
        try? await eventually(within: Self.drainTimeout) { phone.completed >= answers.count }
        let arrivals = answers.map { phone.completion(of: $0.msiKey) }
        try await eventually("the archive is at rest", within: Self.drainTimeout, every: .milliseconds(50)) {
            try await stack.isArchiveAtRest()
        }
        processes = try StackUsage(of: stack).figures(since: before, messages: answers.count)
        counts.accepted += answers.count
        counts.relayed += try await stack.fcm.counts().distinct / RunningRelay.sendsOfCommand
        counts.delivered += arrivals.count { $0 != nil }
        note(answers, arrivals)
    }

    private mutating func note(_ answers: [GatewayDriver.Answer], _ arrivals: [UInt64?]) {
        guard let first = answers.map(\.sent).min(), let lastAnswer = answers.map(\.answered).max() else { return }
        let lastArrival = arrivals.compactMap(\.self).max() ?? lastAnswer
        rates.append(Double(arrivals.count { $0 != nil }) / (Double(lastArrival - first) / 1e9))
        acceptedRates.append(Double(answers.count) / (Double(lastAnswer - first) / 1e9))
        for (answer, arrival) in zip(answers, arrivals) {
            answerTimes.record((answer.answered - answer.sent) / 1_000)
            if let arrival { phoneTimes.record((arrival - answer.sent) / 1_000) }
        }
    }

    /// The figures, together with those of the parts alone.
    func figures(route: Double, insert: Double, relay: Double?) -> MessageFigures.Load {
        MessageFigures.Load(
            inFlight: clients, rate: rates.median.rounded(), acceptedRate: acceptedRates.median.rounded(),
            answer: Self.latency(answerTimes), phone: Self.latency(phoneTimes), accepted: counts.accepted,
            relayed: counts.relayed, delivered: counts.delivered, lost: counts.lost, processes: processes,
            route: route.rounded(), insert: insert.rounded(), relay: relay?.rounded())
    }

    private static func latency(_ times: Histogram<UInt64>) -> MessageFigures.Latency {
        func milliseconds(_ percentile: Double) -> Double {
            (Double(times.valueAtPercentile(percentile)) / 1_000).twoDigits
        }
        return MessageFigures.Latency(p50: milliseconds(50), p99: milliseconds(99))
    }

    /// Microseconds up to ten minutes, three digits.
    private static func histogram() -> Histogram<UInt64> {
        Histogram(highestTrackableValue: 600_000_000, numberOfSignificantValueDigits: .three)
    }
}
