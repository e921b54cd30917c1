import Glibc
import Histogram

/// What a run has shown.
struct LoadReport: Encodable, Sendable {
    /// Milliseconds by percentile.
    struct Latency: Encodable, Sendable {
        let count: Int
        let mean: Double
        let p50: Double
        let p90: Double
        let p99: Double
        let p999: Double
        let longest: Double
    }

    /// `relay` or `gateway`.
    let target: String
    /// Messages a second that were asked for; absent where it was as fast as possible.
    let rate: Double?
    let ramp: Double
    let inFlight: Int
    let topics: Int
    let alerts: Int
    let text: String
    let seed: UInt64

    /// For how many seconds messages were sent.
    let seconds: Double
    /// How many seconds it took until the last message was answered.
    let lastAnswer: Double
    let sent: Int
    let accepted: Int
    let failed: Int
    /// Accepted messages a second, until the last answer.
    let throughput: Double
    /// The throughput as a share of what was asked for, from 0; absent where it was as fast as possible.
    let shareOfRate: Double?
    /// For how many seconds of the load what held it back, as the target says.
    let heldBack: [Holdup: Int]
    let latency: Latency
    let errors: [String: Int]
    /// How late the tester itself was with a message, at most, in milliseconds: more than a little means that the figures are
    /// the tester's, not the target's. Its latency counts from when the message was due all the same.
    let testerDelay: Double
    let intervals: [LoadRecorder.Interval]
    /// The latency at each percentile that a plot shows, in milliseconds.
    let distribution: [DistributionPoint]

    struct DistributionPoint: Encodable, Sendable {
        let percentile: Double
        let latency: Double
    }

    init(
        _ target: String, _ options: LoadOptions, _ totals: LoadRecorder.Totals, seconds: Double, holdups: [Holdup: Int] = [:]
    ) {
        func milliseconds(_ percentile: Double) -> Double {
            totals.latencies.totalCount == 0 ? 0 : Double(totals.latencies.valueAtPercentile(percentile)) / 1_000
        }
        self.target = target
        rate = options.rate
        ramp = options.ramp
        inFlight = options.inFlight
        topics = options.topics
        alerts = options.alerts
        text = options.text.description
        seed = options.seed
        self.seconds = seconds
        sent = totals.sent
        accepted = totals.accepted
        failed = totals.failed
        lastAnswer = totals.lastAnswer
        throughput = totals.lastAnswer > 0 ? Double(totals.accepted) / totals.lastAnswer : 0
        // The mean rate: in the ramp it is half of the full one.
        let asked = Double(totals.sent) / max(seconds, 0.001)
        shareOfRate = options.rate == nil || asked == 0 ? nil : throughput / asked
        heldBack = holdups
        latency = Latency(
            count: Int(totals.latencies.totalCount),
            mean: totals.latencies.totalCount == 0 ? 0 : totals.latencies.mean / 1_000, p50: milliseconds(50),
            p90: milliseconds(90), p99: milliseconds(99), p999: milliseconds(99.9), longest: milliseconds(100))
        errors = totals.errors
        testerDelay = totals.maxDelay * 1_000
        intervals = totals.intervals
        distribution = Self.plotted(for: Int(totals.latencies.totalCount)).map {
            .init(percentile: $0, latency: milliseconds($0))
        }
    }

    /// The median, and twenty percentiles for each nine, up to 99.999 % or to what so many messages can tell apart.
    private static func plotted(for count: Int) -> [Double] {
        guard count > 0 else { return [] }
        let nines = min(max(2, Int(log10(Double(count)).rounded(.up))), 5)
        let percentiles = (0...nines * 20).map { step in
            // As exact as its text: 99.9, and not 99.90000000000001.
            ((1 - pow(10, -Double(step) / 20)) * 100_000_000).rounded() / 1_000_000
        }
        return (percentiles + [50]).sorted()
    }
}
