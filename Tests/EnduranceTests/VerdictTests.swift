import TestSupport
import Testing

@testable import Endurance

/// The checks of an endurance run, on figures made by the tests.
@Suite("Verdict of an endurance run")
struct EnduranceVerdictTests {
    private static let rest = ProcessUsage(descriptors: 20, threads: 8, resident: 30_000)

    private static func record(_ samples: Int, _ usage: (_ share: Double) -> ProcessUsage) -> UsageRecord {
        var record = UsageRecord()
        for number in 0..<samples { record.append(usage(Double(number) / Double(samples))) }
        return record
    }

    private static func verdict(
        _ change: (inout RetryingLoad.Totals) -> Void = { _ in }, accepted: Int = 1_010, distinct: Int = 1_000,
        usage: UsageRecord = record(100) { _ in rest }, after: ProcessUsage = rest
    ) -> Verdict {
        var totals = RetryingLoad.Totals(sent: 1_000, accepted: 1_000, commands: 1_200)
        change(&totals)
        return Verdict(
            totals: totals,
            counts: FCMServer.Counts(accepted: accepted, distinct: distinct, doubled: accepted - distinct, unkeyed: 0),
            usage: usage, before: rest, after: after)
    }

    @Test("A run in which everything reached FCM and nothing grew is good, even with doubled messages")
    func good() {
        let verdict = Self.verdict()
        #expect(verdict.problems == [])
        #expect(
            verdict.summary
                == "sent=1000 accepted=1000 lost=0 doubled=10 memory=30000→30000KiB fds=20→20 threads=8→8")
    }

    @Test("A message that the relay reported as accepted, and FCM does not have, is lost")
    func lost() {
        let verdict = Self.verdict(accepted: 990, distinct: 990)
        #expect(!verdict.isGood)
        #expect(verdict.summary.contains("lost=10 "))
    }

    @Test("A message that is never accepted and a command without an answer are found")
    func unfinished() {
        #expect(
            !Self.verdict {
                $0.open = 1; $0.accepted = 999
            }.isGood)
        #expect(!Self.verdict { $0.accepted = 999 }.isGood)
        #expect(!Self.verdict { $0.unanswered = ["deadline_exceeded": 1] }.isGood)
        #expect(Self.verdict { $0.failures = ["UNAVAILABLE": 700] }.isGood)
    }

    @Test("Growth of memory, descriptors and threads after the warm-up is found; growth before it, and a peak, are not")
    func growth() {
        func isGood(_ usage: (Double) -> ProcessUsage) -> Bool { Self.verdict(usage: Self.record(100, usage)).isGood }
        #expect(!isGood { ProcessUsage(descriptors: 20, threads: 8, resident: 30_000 + Int($0 * 20_000)) })
        #expect(!isGood { ProcessUsage(descriptors: 20 + Int($0 * 40), threads: 8, resident: 30_000) })
        #expect(!isGood { ProcessUsage(descriptors: 20, threads: 8 + Int($0 * 10), resident: 30_000) })
        #expect(isGood { ProcessUsage(descriptors: 20, threads: 8, resident: 30_000 + Int(min($0, 0.2) * 100_000)) })
        #expect(isGood { ProcessUsage(descriptors: $0 > 0.45 && $0 < 0.55 ? 400 : 20, threads: 8, resident: 30_000) })
    }

    @Test("Descriptors and threads that remain afterwards are found")
    func rest() {
        #expect(!Self.verdict(after: ProcessUsage(descriptors: 21, threads: 8, resident: 30_000)).isGood)
        #expect(!Self.verdict(after: ProcessUsage(descriptors: 20, threads: 13, resident: 30_000)).isGood)
    }
}
