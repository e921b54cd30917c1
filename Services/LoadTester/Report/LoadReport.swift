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
    let sent: Int
    let accepted: Int
    let failed: Int
    /// Accepted messages a second.
    let throughput: Double
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

    init(_ target: String, _ options: LoadOptions, _ totals: LoadRecorder.Totals, seconds: Double) {
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
        throughput = seconds > 0 ? Double(totals.accepted) / seconds : 0
        latency = Latency(
            count: Int(totals.latencies.totalCount),
            mean: totals.latencies.totalCount == 0 ? 0 : totals.latencies.mean / 1_000, p50: milliseconds(50),
            p90: milliseconds(90), p99: milliseconds(99), p999: milliseconds(99.9), longest: milliseconds(100))
        errors = totals.errors
        testerDelay = totals.longestDelay * 1_000
        intervals = totals.intervals
        distribution =
            totals.latencies.totalCount == 0 ? [] : Self.plotted.map { .init(percentile: $0, latency: milliseconds($0)) }
    }

    /// From the median's side to five nines, closer together towards the end.
    private static let plotted: [Double] =
        stride(from: 0.0, through: 90, by: 5).map(\.self) + [92.5, 95, 97, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.99, 99.999]
}
