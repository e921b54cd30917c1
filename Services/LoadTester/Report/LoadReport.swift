import Glibc
import Histogram
import Base

/// The results of a run.
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
    /// The requested rate in messages a second; absent for as fast as possible.
    let rate: Double?
    let ramp: Double
    let inFlight: Int
    let topics: Int
    let alerts: Int
    let text: String
    let seed: UInt64

    /// How long messages were sent, in seconds.
    let seconds: Double
    /// The time of the last answer, in seconds from the beginning.
    let lastAnswer: Double
    let sent: Int
    let accepted: Int
    let failed: Int
    /// Accepted messages a second, until the last answer.
    let throughput: Double
    /// The throughput as a share of the requested rate, from 0; absent for as fast as possible.
    let shareOfRate: Double?
    /// The number of seconds for which each cause limited the load, as the target reports it.
    let heldBack: [Bottleneck: Int]
    let latency: Latency
    let errors: [String: Int]
    /// What has reached the phones; absent if there were none.
    let phones: PhoneReport?
    /// The maximum delay of a send by the tester itself, in milliseconds. If it is large, the tester and not the target limits
    /// the figures. Latencies count from the time when a message was due in any case.
    let testerDelay: Double
    let intervals: [LoadRecorder.Interval]
    /// The latency at each percentile that a plot shows, in milliseconds.
    let distribution: [DistributionPoint]

    struct DistributionPoint: Encodable, Sendable {
        let percentile: Double
        let latency: Double
    }

    init(
        _ target: String, _ options: LoadOptions, _ totals: LoadRecorder.Totals, seconds: Double,
        bottlenecks: [Bottleneck: Int] = [:], phones: PhoneReport? = nil
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
        // The mean rate, since the ramp has half of the full rate.
        let asked = Double(totals.sent) / max(seconds, 0.001)
        shareOfRate = options.rate == nil || asked == 0 ? nil : throughput / asked
        heldBack = bottlenecks
        latency = Latency(totals.latencies)
        errors = totals.errors
        self.phones = phones
        testerDelay = totals.maxDelay * 1_000
        intervals = totals.intervals
        distribution = Self.plotted(for: Int(totals.latencies.totalCount)).map {
            .init(percentile: $0, latency: milliseconds($0))
        }
    }

    /// The median, and twenty percentiles for each nine, up to 99.999 % or to the highest that this number of
    /// messages can distinguish.
    private static func plotted(for count: Int) -> [Double] {
        guard count > 0 else { return [] }
        let nines = min(max(2, Int(log10(Double(count)).rounded(.up))), 5)
        let percentiles = (0...nines * 20).map { step in
            // Rounded to 99.9, and not 99.90000000000001.
            ((1 - pow(10, -Double(step) / 20)) * 100_000_000).rounded() / 1_000_000
        }
        return (percentiles + [50]).sorted()
    }
}

extension LoadReport.Latency {
    /// - Parameter times: In microseconds.
    init(_ times: Histogram<UInt64>) {
        func milliseconds(_ percentile: Double) -> Double {
            times.totalCount == 0 ? 0 : Double(times.valueAtPercentile(percentile)) / 1_000
        }
        self.init(
            count: Int(times.totalCount), mean: times.totalCount == 0 ? 0 : times.mean / 1_000, p50: milliseconds(50),
            p90: milliseconds(90), p99: milliseconds(99), p999: milliseconds(99.9), longest: milliseconds(100))
    }
}

extension LoadReport {
    /// Below this share of the requested rate, something limited the load.
    private static let lowShare = 0.95

    /// What limited the load, one sentence each; empty if nothing did.
    var remarks: [String] {
        let named = Bottleneck.allCases.compactMap { bottleneck in
            heldBack[bottleneck].map { "by \(bottleneck.explanation), in \($0) of \(Int(lastAnswer.rounded(.up))) s" }
        }
        guard let rate, let shareOfRate, shareOfRate < Self.lowShare else { return named }
        var late: [String] = []
        if lastAnswer > seconds {
            late.append("the last answer came \(ReportTable.short(lastAnswer - seconds)) s after the last message was due")
        }
        if testerDelay > 1_000 / rate + 100 {
            late.append("at times all \(inFlight) messages of --in-flight were without an answer")
        }
        return named + late
    }
}

/// What has reached the phones of a load.
struct PhoneReport: Encodable, Hashable, Sendable {
    let phones: Int
    /// The number of messages that the phones should have according to the hub, including those of other senders to Forced and
    /// Recommended subjects.
    let expected: Int
    let delivered: Int
    let doubled: Int
    let missing: Int
    /// Accepted messages of the load that are not on every phone, as counted at the phones.
    let incomplete: Int
    /// From a message's `timestamp` until it is in a phone's list, in milliseconds; absent without a message.
    let p50: Double?
    let p99: Double?
    let longest: Double?

    /// Whether each phone has each accepted message, once.
    var isComplete: Bool { doubled == 0 && missing == 0 && incomplete == 0 }

    /// - Parameters:
    ///   - line: The last line of the fleet.
    ///   - received: On how many phones each message is, by `msi_key`.
    ///   - accepted: The keys of the load's accepted messages.
    /// - Returns: `nil` if the line is not a report.
    init?(line: JSONValue, received: [String: Int], accepted: [String]) {
        func count(_ name: String) -> Int? { line[name]?.integer.map { Int($0) } }
        func milliseconds(_ name: String) -> Double? { line[name]?.number.flatMap { Double($0) } }
        guard let phones = count("phones"), let expected = count("expected"), let delivered = count("delivered"),
            let doubled = count("doubled"), let missing = count("missing")
        else { return nil }
        self.phones = phones
        self.expected = expected
        self.delivered = delivered
        self.doubled = doubled
        self.missing = missing
        incomplete = accepted.count { received[$0] != phones }
        p50 = milliseconds("p50_ms")
        p99 = milliseconds("p99_ms")
        longest = milliseconds("max_ms")
    }
}
