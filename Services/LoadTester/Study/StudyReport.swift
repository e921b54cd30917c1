import Base

/// The results of a load of students.
struct StudyReport: Encodable {
    /// The calls of one kind.
    struct Call: Encodable {
        let name: String
        /// From the call to its answer.
        let latency: LoadReport.Latency
        /// Answers 404 and 409: a session had ended, or had no room any more.
        let refused: Int
    }

    /// How many students had an open app.
    let users: Int
    let classes: Int
    /// In seconds: an app asks for the map once in it, for its own session, and does one more thing.
    let period: Double
    let seed: UInt64
    /// How long calls were made, in seconds.
    let seconds: Double
    let sent: Int
    let failed: Int
    /// Answered calls a second.
    let rate: Double
    /// From the time when a call was due to its answer.
    let latency: LoadReport.Latency
    let calls: [Call]
    let errors: [String: Int]
    /// The maximum delay of a call by the tester itself, in milliseconds.
    let testerDelay: Double

    init(_ target: StudyTarget, period: Double, _ totals: LoadRecorder.Totals, seconds: Double) {
        users = target.users.count
        classes = target.classes.count
        self.period = period
        seed = target.seed
        self.seconds = seconds
        sent = totals.sent
        failed = totals.failed
        rate = totals.lastAnswer > 0 ? Double(totals.accepted) / totals.lastAnswer : 0
        latency = LoadReport.Latency(totals.latencies)
        let kinds = target.times.all
        calls = StudyCall.allCases.compactMap { call in
            kinds[call].map { Call(name: call.rawValue, latency: LoadReport.Latency($0.times), refused: $0.refused) }
        }
        errors = totals.errors
        testerDelay = totals.maxDelay * 1_000
    }
}

extension StudyReport: CustomStringConvertible {
    /// A text table.
    var description: String {
        var rows = [
            ("students", "\(users) with open apps, in \(classes) classes; seed \(seed)"),
            ("calls", "\(sent) sent, \(failed) failed; \(ReportTable.short(rate)) answered a second"),
            ("latency ms", Self.text(latency) + ", from the time when a call was due"),
        ]
        for call in calls {
            let refused = call.refused == 0 ? "" : "; refused: \(call.refused)"
            rows.append((call.name, "\(call.latency.count) calls: \(Self.text(call.latency))\(refused)"))
        }
        for (name, count) in errors.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            rows.append(("error", "\(count) × \(name)"))
        }
        rows.append(("tester", "late by at most \(ReportTable.short(testerDelay)) ms"))
        return rows.map { name, value in
            name + String(repeating: " ", count: max(1, 12 - name.count)) + value
        }.joined(separator: "\n")
    }

    private static func text(_ latency: LoadReport.Latency) -> String {
        let figures = [("p50", latency.p50), ("p99", latency.p99), ("longest", latency.longest)]
        return figures.map { "\($0.0) \(ReportTable.short($0.1))" }.joined(separator: "  ")
    }
}
