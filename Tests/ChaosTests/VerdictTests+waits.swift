import TestSupport
import Testing

@testable import Chaos

/// Messages that expire, copies that FCM takes at the end of a lifetime, outcomes that wait, and the components for browsers.
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

    @Test("An outcome that waits for the Web Push service can be lost with the message log as long as that one may take")
    func outcomeThatWaitsForWebPush() {
        for (part, isGood) in [(Part.webPush[0], true), (Part.gateway, false)] {
            let verdict = doubled(heardAfter: 120, by: .messageLog2, .kill, after: 3_000) { evidence in
                disturb(part, .freeze, after: 100, for: 2_500, in: &evidence)
            }
            #expect(verdict.doubled == 1)
            #expect(verdict.isGood == isGood, "\(verdict.problems)")
        }
    }

    @Test("A message that FCM has may expire for browsers while the Web Push service is away, and may not fail for them")
    func browsers() {
        func verdict(_ state: String, webpush: String, _ part: Part) -> Verdict {
            Verdict(
                evidence { evidence in
                    evidence.archive["m"] = ArchivedMessage(
                        msiKey: "m", due: Self.start, expires: Self.start + 60_000, state: state,
                        components: [.init(component: Self.component, state: "accepted", name: "n")], webpush: webpush)
                    disturb(part, .freeze, after: 100, in: &evidence)
                })
        }
        #expect(verdict("relayed", webpush: "accepted", .gateway).isGood)
        let away = verdict("expired", webpush: "expired", Part.webPush[0])
        #expect(away.isGood && away.delivered == 1, "\(away.problems)")
        #expect(verdict("expired", webpush: "expired", .gateway).problems.count == 1)
        #expect(verdict("failed", webpush: "failed", Part.webPush[0]).problems.count == 1)
        #expect(verdict("relayed", webpush: "pending", .gateway).problems.count == 1)
    }
}
