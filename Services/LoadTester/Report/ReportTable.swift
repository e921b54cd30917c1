/// A report as a text table.
struct ReportTable: CustomStringConvertible {
    let report: LoadReport

    var description: String {
        let latency = report.latency
        let load = report.rate.map { "\(Self.short($0)) messages/s, open loop" } ?? "as fast as possible, closed loop"
        var rows = [
            ("target", report.target),
            (
                "load",
                "\(load); at most \(report.inFlight) in flight; \(report.topics) topics, \(report.alerts) % alerts, "
                    + "texts of \(report.text) characters, seed \(report.seed)"
            ),
            ("messages", "\(report.sent) sent, \(report.accepted) accepted, \(report.failed) failed"),
            (
                "throughput",
                "\(Self.short(report.throughput)) accepted messages/s over \(Self.short(report.lastAnswer)) s, to the last answer"
                    + (report.shareOfRate.map { " (\(Self.short($0 * 100)) % of what was asked for)" } ?? "")
            ),
            (
                "latency ms",
                "p50 \(Self.short(latency.p50))  p90 \(Self.short(latency.p90))  p99 \(Self.short(latency.p99))  "
                    + "p99.9 \(Self.short(latency.p999))  longest \(Self.short(latency.longest))  mean \(Self.short(latency.mean))"
            ),
        ]
        for remark in report.remarks { rows.append(("held back", remark)) }
        if report.ramp > 0 {
            rows.append(("", "of the \(latency.count) messages after the ramp of \(Self.short(report.ramp)) s"))
        }
        for (name, count) in report.errors.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            rows.append(("error", "\(count) × \(name)"))
        }
        if let phones = report.phones { rows += Self.rows(phones) }
        if report.rate != nil { rows.append(("tester", "late by at most \(Self.short(report.testerDelay)) ms")) }
        return rows.map { name, value in
            name + String(repeating: " ", count: max(1, 12 - name.count)) + value
        }.joined(separator: "\n")
    }

    private static func rows(_ report: PhoneReport) -> [(String, String)] {
        let latencies = [("p50", report.p50), ("p99", report.p99), ("longest", report.longest)].compactMap { name, value in
            value.map { "\(name) \(short($0))" }
        }
        return [
            (
                "phones",
                "\(report.phones): \(report.delivered) of \(report.expected) messages delivered, \(report.missing) missing, "
                    + "\(report.doubled) doubled; accepted, but not on every phone: \(report.incomplete)"
            ),
            ("", "ms from the post to a phone's list: \(latencies.joined(separator: "  "))"),
        ]
    }

    /// Progress, in one line.
    static func line(_ interval: LoadRecorder.Interval) -> String {
        "\(short(interval.time)) s: \(interval.answered) answered, \(interval.failed) failed, "
            + "p50 \(short(interval.median)) ms, p99 \(short(interval.p99)) ms, longest \(short(interval.longest)) ms"
    }

    /// About three significant digits.
    static func short(_ number: Double) -> String {
        let factor = number.magnitude >= 100 ? 1.0 : number.magnitude >= 10 ? 10 : 100
        let rounded = (number * factor).rounded() / factor
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
