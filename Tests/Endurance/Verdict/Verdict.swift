import TestSupport

/// The results of a run.
struct Verdict: Sendable {
    /// The allowed growth of the medians, which the current phase may cause.
    private enum Tolerance {
        /// KiB.
        static let memory = 6_144
        /// A relay has up to ten connections and one being made. The number depends on the phase.
        static let descriptors = 12
        /// Swift's tasks run on two pools, by their priority, with a thread for each of two processors. Idle threads end.
        static let threads = 4
    }

    var problems: [String]
    let summary: String

    var isGood: Bool { problems.isEmpty }

    /// - Parameters:
    ///   - counts: FCM's counts of accepted sends.
    ///   - usage: The relay's resources under load.
    ///   - before: The relay's resources at rest, before the load.
    init(
        totals: RetryingLoad.Totals, counts: FCMServer.Counts, usage: UsageRecord, before: ProcessUsage, after: ProcessUsage
    ) {
        var problems: [String] = []
        func require(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append(problem()) }
        }
        let lost = max(0, totals.accepted - counts.distinct)
        require(totals.open == 0, "\(totals.open) messages were not accepted when FCM was well again")
        require(
            totals.open > 0 || totals.accepted == totals.sent, "\(totals.accepted) of \(totals.sent) components were accepted")
        require(lost == 0, "FCM has only \(counts.distinct) of \(totals.accepted) components")
        require(counts.distinct <= totals.sent, "FCM has \(counts.distinct) components, of \(totals.sent)")
        require(counts.unkeyed == 0, "FCM has \(counts.unkeyed) sends without an msi_key")
        for (why, count) in totals.unanswered.sorted(by: { $0.key < $1.key }) {
            require(false, "\(count) commands had no answer: \(why)")
        }
        require(
            after.descriptors <= before.descriptors, "\(before.descriptors) descriptors at rest have become \(after.descriptors)")
        require(
            after.threads <= before.threads + Tolerance.threads, "\(before.threads) threads at rest have become \(after.threads)")

        func course(_ name: String, _ figure: KeyPath<ProcessUsage, Int>, tolerance: Int) -> String {
            guard let (from, to) = usage.course(of: figure) else {
                require(false, "too short a run to judge \(name)")
                return "?→?"
            }
            require(to <= from + tolerance, "\(name) grew from \(from) to \(to)")
            return "\(from)→\(to)"
        }
        let memory = course("the resident memory, in KiB,", \.resident, tolerance: Tolerance.memory)
        let descriptors = course("the number of file descriptors", \.descriptors, tolerance: Tolerance.descriptors)
        let threads = course("the number of threads", \.threads, tolerance: Tolerance.threads)
        self.problems = problems
        summary =
            "sent=\(totals.sent) accepted=\(totals.accepted) lost=\(lost) doubled=\(counts.doubled) "
            + "memory=\(memory)KiB fds=\(descriptors) threads=\(threads)"
    }
}
