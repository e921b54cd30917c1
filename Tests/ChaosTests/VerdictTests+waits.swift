import TestSupport
import Testing

@testable import Chaos

/// Messages that expire, copies that FCM takes at the end of a lifetime, and outcomes that wait.
extension VerdictTests {
    @Test("A copy that a relay gave up because it had expired needs no fault")
    func expiredOnTheWay() {
        let verdict = Verdict(
            evidence { evidence in
                archive("expired", "expired", in: &evidence)
                disturb(.emulator, .freeze, after: 50_000, in: &evidence)
                evidence.sends = [:]
                send("late", after: 59_990, heardAfter: nil, in: &evidence)
                evidence.failures[Self.component] = [Observation(relay: .relay1, time: Self.start + 61_000)]
            })
        #expect(verdict.isGood, "\(verdict.problems)")
    }

    @Test("A message may expire while others are late as well, and not while they are sent in time")
    func backlog() {
        for (delay, isGood) in [(Int64(31_000), true), (1_000, false)] {
            let verdict = Verdict(
                evidence { evidence in
                    archive("expired", "expired", in: &evidence)
                    evidence.sends = [:]
                    evidence.archive["other"] = ArchivedMessage(
                        msiKey: "other", due: Self.start + 10, expires: Self.start + 60_010, state: "relayed", nextAttempt: nil,
                        components: [])
                    let component = SentComponent(msiKey: "other", name: "data")
                    evidence.sends[component] = [
                        AcceptedSend(component: component, name: "n", received: Self.start + delay, taken: nil)
                    ]
                })
            let problems = verdict.problems.filter { $0.contains("nothing was away") }
            #expect(problems.isEmpty == isGood, "\(verdict.problems)")
        }
    }

    @Test(
        "A copy that was given up long before FCM took it, without its time of sending, is explained by what delayed FCM"
    )
    func answerLostLongBefore() {
        let verdict = Verdict(
            evidence { evidence in
                archive("expired", "expired", in: &evidence)
                evidence.sends[Self.component] = [
                    AcceptedSend(component: Self.component, name: "n", received: Self.start + 36_000, taken: nil)
                ]
                evidence.acceptances = [:]
                evidence.failures[Self.component] = [Observation(relay: .relay1, time: Self.start + 10_100)]
                disturb(.emulator, .freeze, after: 900, for: 35_000, in: &evidence)
            })
        #expect(verdict.delivered == 1)
        #expect(verdict.isGood, "\(verdict.problems)")
    }

    @Test("An outcome that waits for the database can be lost with the message log until the database is back")
    func outcomeThatWaits() {
        for isAway in [true, false] {
            let verdict = doubled(heardAfter: 120, by: .messageLog2, .kill, after: 3_000) { evidence in
                if isAway { disturb(.database, .restart, after: 1_000, for: 2_500, in: &evidence) }
            }
            #expect(verdict.doubled == 1)
            #expect(verdict.isGood == isAway, "\(verdict.problems)")
        }
    }
}
