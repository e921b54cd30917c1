import Glibc

struct PlotFigures: Sendable {
    struct Point: Sendable {
        /// In nines: 1 for 90 %, 2 for 99 %.
        let nines: Double
        let latency: Double
    }

    struct Second: Sendable {
        /// Seconds from the beginning.
        let begin: Double
        let end: Double
        let answered: Int
        let failed: Int
        let median: Double
        let p99: Double
    }

    /// One second of the ramp.
    struct RatePoint: Sendable {
        /// The requested rate in the middle of the second, in messages a second.
        let rate: Double
        let median: Double
        let p99: Double
    }

    let title: String
    let subtitle: String
    /// What limited the load, one line each; empty if nothing did.
    let remarks: [String]
    /// Names and values for the row above the panels.
    let tiles: [(name: String, value: String, hint: String)]
    /// The percentiles, as many as the number of messages can distinguish.
    let distribution: [Point]
    let seconds: [Second]
    /// The requested rate, in messages a second.
    let target: Double?
    /// Latencies by rate, if the ramp is long enough for a line; otherwise empty.
    let rates: [RatePoint]
}

extension PlotFigures {
    /// A shorter last interval, in seconds, is merged with the one before: its rate would be meaningless.
    private static let minInterval = 0.5
    /// The minimum number of points of latencies by rate.
    private static let minRates = 5

    init(_ report: LoadReport) {
        func count(_ number: Int) -> String { number == 0 ? "none" : Quantity.number(Double(number), digits: 12) }
        func latency(_ value: Double) -> String {
            report.latency.count == 0 ? "–" : Quantity.latency(milliseconds: value)
        }
        let load = report.rate.map { "\(Quantity.number($0)) messages/s, open loop" } ?? "As fast as possible, closed loop"
        title = "msi-load \(report.target)"
        subtitle =
            "\(load), for \(Quantity.time(seconds: report.seconds)) · \(count(report.sent)) sent, \(count(report.accepted)) accepted, "
            + "\(count(report.failed)) failed"
        remarks = report.remarks.map { "Held back: \($0)." }
        tiles = [
            (
                "Throughput", "\(Quantity.number(report.throughput))/s",
                report.shareOfRate.map { "\(Quantity.number(($0 * 100).rounded())) % of target" } ?? ""
            ),
            ("p50", latency(report.latency.p50), ""), ("p99", latency(report.latency.p99), ""),
            ("p99.9", latency(report.latency.p999), ""), ("Longest", latency(report.latency.longest), ""),
        ]
        distribution = report.distribution.map { Point(nines: -log10(1 - $0.percentile / 100), latency: $0.latency) }
        seconds = Self.seconds(of: report.intervals)
        target = report.rate
        rates = Self.rates(of: seconds, report)
    }

    private static func rates(of seconds: [Second], _ report: LoadReport) -> [RatePoint] {
        guard let rate = report.rate, report.ramp > 0 else { return [] }
        let points = seconds.filter { $0.end <= report.ramp && $0.answered > 0 }.map {
            RatePoint(rate: rate * ($0.begin + $0.end) / 2 / report.ramp, median: $0.median, p99: $0.p99)
        }
        return points.count < minRates ? [] : points
    }

    private static func seconds(of intervals: [LoadRecorder.Interval]) -> [Second] {
        var seconds: [Second] = []
        var begin = 0.0
        for interval in intervals where interval.time > begin {
            var second = Second(
                begin: begin, end: interval.time, answered: interval.answered, failed: interval.failed, median: interval.median,
                p99: interval.p99)
            if interval.time - begin < minInterval, let before = seconds.popLast() {
                second = Second(
                    begin: before.begin, end: second.end, answered: before.answered + second.answered,
                    failed: before.failed + second.failed, median: max(before.median, second.median),
                    p99: max(before.p99, second.p99))
            }
            seconds.append(second)
            begin = interval.time
        }
        return seconds
    }
}
