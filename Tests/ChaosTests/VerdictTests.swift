import FoundationEssentials
import TestSupport
import Testing

@testable import Chaos

extension Part {
    static let (relay1, relay2) = (relays[0], relays[1])
    static let (messageLog1, messageLog2) = (messageLogs[0], messageLogs[1])
}

/// The checks of a chaos run, on evidence made by the tests.
@Suite("The verdict of a chaos run")
struct VerdictTests {
    /// In Unix milliseconds: a whole second.
    static let start: Int64 = 1_795_262_400_000

    /// The evidence of one Information message without faults: logged, sent 100 ms later, and answered 20 ms after that.
    func evidence(_ change: (inout Evidence) -> Void = { _ in }) -> Evidence {
        var evidence = Evidence()
        evidence.accepted = [Traffic.Accepted(msiKey: "m", distribution: "Information")]
        archive("relayed", "accepted", name: "n", in: &evidence)
        send("n", after: 100, heardAfter: 120, in: &evidence)
        change(&evidence)
        return evidence
    }

    static let component = SentComponent(msiKey: "m", name: "data")

    func archive(
        _ state: String, _ componentState: String, name: String? = nil, error: String? = nil, nextAttempt: Int64? = nil,
        in evidence: inout Evidence
    ) {
        evidence.archive["m"] = ArchivedMessage(
            msiKey: "m", due: Self.start, expires: Self.start + 60_000, state: state, nextAttempt: nextAttempt,
            components: [.init(component: Self.component, state: componentState, name: name, error: error)])
    }

    func send(_ name: String, after delay: Int64, heardAfter hearing: Int64?, in evidence: inout Evidence) {
        let received = Self.start + delay
        evidence.sends[Self.component, default: []].append(
            AcceptedSend(component: Self.component, name: name, received: received, taken: received / 1_000))
        if let hearing { evidence.acceptances[name] = Observation(relay: .relay1, time: Self.start + hearing) }
    }

    func disturb(
        _ part: Part, _ action: Fault.Action, after delay: Int64, for length: Int64 = 500, in evidence: inout Evidence
    ) {
        evidence.injectedFaults.append(
            InjectedFault(part: part, action: action, began: Self.start + delay, ended: Self.start + delay + length))
    }

    @Test("A message that FCM accepted is delivered")
    func delivered() {
        let verdict = Verdict(evidence())
        #expect(verdict.summary == "accepted=1 delivered=1 failed=0 lost=0 doubled=0")
        #expect(verdict.isGood, "\(verdict.problems)")
    }

    @Test("A message that failed or expired for a reason is not a problem")
    func failed() {
        for (state, error, part) in [("failed", "INVALID_ARGUMENT", nil), ("expired", nil, Part.emulator)] {
            let verdict = Verdict(
                evidence { evidence in
                    evidence.sends = [:]
                    archive(state, state, error: error, in: &evidence)
                    if let part { disturb(part, .freeze, after: 100, in: &evidence) }
                })
            #expect(verdict.summary == "accepted=1 delivered=0 failed=1 lost=0 doubled=0")
            #expect(verdict.isGood, "\(verdict.problems)")
        }
    }

    @Test("A message that a relay refused as invalid is a problem, for example of two versions side by side")
    func refused() {
        let verdict = Verdict(
            evidence { evidence in
                evidence.sends = [:]
                archive("failed", "failed", error: "RELAY_INVALID", in: &evidence)
            })
        #expect(verdict.summary == "accepted=1 delivered=0 failed=1 lost=0 doubled=0")
        #expect(verdict.problems.first?.hasPrefix("a relay has refused") == true, "\(verdict.problems)")
    }

    @Test("A message that FCM does not have, and that is not final in the archive, is lost")
    func lost() {
        let losses: [(inout Evidence) -> Void] = [
            { $0.archive = [:] },
            { _ in },
            { archive("retrying", "pending", nextAttempt: Self.start, in: &$0) },
        ]
        for loss in losses {
            let verdict = Verdict(
                evidence { evidence in
                    evidence.sends = [:]
                    loss(&evidence)
                })
            #expect(verdict.lost == 1)
            #expect(!verdict.isGood)
        }
    }

    @Test("A stored message whose post got no answer must end as well")
    func unanswered() {
        let verdict = Verdict(
            evidence { evidence in
                evidence.accepted = []
                archive("retrying", "pending", nextAttempt: Self.start, in: &evidence)
            })
        #expect(verdict.lost == 0)
        #expect(!verdict.isGood)
    }

    @Test("A problem about a message shows what the services logged about it, in the order of time")
    func logLines() async throws {
        try await withTemporaryFolder { folder in
            func line(_ number: Int, _ key: String) -> String {
                #"{"message":"\#(number)","msi_key":"\#(key)","time":"2026-11-21T10:00:00.\#(100 + number)Z"}"#
            }
            let relay = [line(2, "m1"), line(3, "m2"), "not JSON"]
            let log = [line(1, "m1")] + (4..<34).map { line($0, "m1") }
            for (name, lines) in [("relay.log", relay), ("log.log", log)] {
                try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: folder + "/" + name))
            }
            let logs = ServiceLogs(files: ["relay.log", "log.log", "missing.log"].map { folder + "/" + $0 })
            #expect(logs.lines(about: "m2") == ["relay.log: " + line(3, "m2")])
            let lines = logs.lines(about: "m1")
            #expect(lines.count == 21)
            #expect(lines.prefix(3) == ["log.log: " + line(1, "m1"), "relay.log: " + line(2, "m1"), "log.log: " + line(4, "m1")])
            #expect(lines[10] == "… 12 lines …" && lines.last == "log.log: " + line(33, "m1"))
        }
        let verdict = Verdict(
            evidence { evidence in
                archive("expired", "expired", in: &evidence)
                evidence.logLines = { ["log.log: the line about \($0)"] }
            })
        #expect(verdict.problems.contains { $0.hasSuffix("\n    log.log: the line about m") })
    }

    @Test("An archive that contradicts FCM, or has no reason, is a problem")
    func archiveThatIsWrong() {
        let wrongs: [(inout Evidence) -> Void] = [
            { archive("relayed", "accepted", name: "another", in: &$0) },
            { archive("relayed", "pending", name: "n", in: &$0) },
            { archive("failed", "failed", in: &$0) },
            // There was no outage.
            { archive("expired", "expired", in: &$0) },
            { $0.archive = [:] },
            { $0.accepted.append($0.accepted[0]) },
        ]
        for wrong in wrongs { #expect(!Verdict(evidence(wrong)).isGood) }
    }

    /// Two copies, ten seconds apart. The archive knows the second.
    func doubled(
        heardAfter hearing: Int64? = nil, by part: Part, _ action: Fault.Action, after delay: Int64, for length: Int64 = 2_000,
        _ change: (inout Evidence) -> Void = { _ in }
    ) -> Verdict {
        Verdict(
            evidence { evidence in
                evidence.sends = [:]
                send("lost", after: 50, heardAfter: hearing, in: &evidence)
                send("n", after: 10_100, heardAfter: 10_120, in: &evidence)
                disturb(part, action, after: delay, for: length, in: &evidence)
                change(&evidence)
            })
    }

    @Test("A copy that no relay had in flight is unexplained, whatever other faults there were")
    func noSender() {
        for part in Part.allCases {
            let verdict = doubled(by: part, .kill, after: 200)
            #expect(verdict.doubled == 1)
            #expect(!verdict.isGood)
        }
    }

    @Test("A copy whose relay lost its last log lines is explained by a kill or a power cut at that moment, and nothing else")
    func logLost() {
        for part in Part.allCases {
            for action in Fault.Action.allCases {
                // FCM has the copy after 50 ms.
                for (delay, isThatMoment) in [(Int64(-1_500), false), (-500, true), (140, true), (160, false)] {
                    let verdict = doubled(by: part, action, after: delay)
                    let canDouble = Part.relays.contains(part) && action == .kill || part == .machine && action == .cutPower
                    #expect(verdict.isGood == (canDouble && isThatMoment), "\(part) \(action) \(delay)")
                }
            }
        }
    }

    @Test("A copy that was in flight when the relay ended is explained by a kill or a power cut, and nothing else")
    func relayEnded() {
        for part in Part.allCases {
            for action in Fault.Action.allCases {
                let verdict = doubled(by: part, action, after: 200) { $0.unfinished[Self.component] = [.relay1] }
                #expect(verdict.doubled == 1)
                let canDouble = part == .relay1 && action == .kill || part == .machine && action == .cutPower
                #expect(verdict.isGood == canDouble, "\(part) \(action)")
            }
        }
    }

    @Test("A copy that a relay gave up is explained by a fault of the emulator, or a freeze of that relay, at that time")
    func answerLost() {
        for part in Part.allCases {
            for (action, delay) in [(Fault.Action.kill, Int64(200)), (.freeze, 300), (.restart, 200), (.kill, 5_000)] {
                let verdict = doubled(by: part, action, after: delay) { evidence in
                    evidence.failures[Self.component] = [Observation(relay: .relay1, time: Self.start + 2_400)]
                }
                #expect(verdict.doubled == 1)
                let isSuspect = part == .emulator || part == .relay1 && action == .freeze
                #expect(verdict.isGood == (isSuspect && delay < 1_000), "\(part) \(action) \(delay)")
            }
        }
    }

    @Test("A copy that one relay gave up is also explained by the end of another that was sending it")
    func answerLostOrRelayEnded() {
        for part in Part.allCases {
            for action in [Fault.Action.kill, .cutPower] {
                let verdict = doubled(by: part, action, after: 200) { evidence in
                    evidence.failures[Self.component] = [Observation(relay: .relay1, time: Self.start + 2_400)]
                    evidence.unfinished[Self.component] = [.relay2]
                }
                let isSuspect = action == .kill ? [.emulator, .relay2].contains(part) : part == .machine
                #expect(verdict.isGood == isSuspect, "\(part) \(action)")
            }
        }
    }

    @Test("A copy that a relay got an answer for is explained by a fault of that relay or a message log at that time")
    func outcomeLost() {
        for part in Part.allCases {
            for (action, delay) in [(Fault.Action.kill, Int64(900)), (.freeze, 900), (.restart, 900), (.kill, 5_000)] {
                let verdict = doubled(heardAfter: 800, by: part, action, after: delay)
                #expect(verdict.doubled == 1)
                let isSuspect = Part.messageLogs.contains(part) || part == .relay1
                #expect(verdict.isGood == (isSuspect && action != .restart && delay < 2_000), "\(part) \(action) \(delay)")
            }
        }
        #expect(!doubled(heardAfter: 800, by: .relay1, .freeze, after: 900, for: 500).isGood)
    }

    @Test("A send after the expiry, or before the message is due, is a problem")
    func time() {
        for delay: Int64 in [-10, 60_001, 66_000] {
            let verdict = Verdict(
                evidence { evidence in
                    evidence.sends = [:]
                    send("n", after: delay, heardAfter: delay + 20, in: &evidence)
                })
            #expect(verdict.delivered == 1)
            #expect(!verdict.isGood, "\(delay)")
        }
    }

    @Test("A send that began in time and was delayed on its way to FCM is not late")
    func heldUp() {
        for (part, isGood) in [(Part.emulator, true), (.relay2, true), (.messageLog1, false)] {
            let verdict = Verdict(
                evidence { evidence in
                    let received = Self.start + 67_000
                    evidence.sends[Self.component] = [
                        AcceptedSend(component: Self.component, name: "n", received: received, taken: Self.start / 1_000 + 59)
                    ]
                    disturb(part, .freeze, after: 61_000, in: &evidence)
                })
            #expect(verdict.isGood == isGood, "\(part): \(verdict.problems)")
        }
    }

    @Test("A start that fails is a problem, unless another process holds the database, or a predecessor the sockets")
    func failedStarts() {
        for (part, other, action, isGood) in [
            (Part.messageLog1, Part.messageLog2, Fault.Action.freeze, true), (.messageLog1, .messageLog1, .freeze, false),
            (.relay1, .messageLog2, .freeze, false), (.relay1, .relay1, .replaceEarly, true), (.relay1, .relay1, .restart, false),
        ] {
            let verdict = Verdict(
                evidence { evidence in
                    evidence.failedStarts = [.init(part: part, at: Self.start + 100, logFile: "log")]
                    disturb(other, action, after: 0, in: &evidence)
                })
            #expect(verdict.isGood == isGood, "\(part), \(other): \(action)")
        }
    }

    @Test("A power cut explains a copy that the archive does not know; a restart and a full disk do not")
    func powerCut() {
        for (action, canDouble) in [(Fault.Action.cutPower, true), (.fillDisk, false), (.setClockBack, false)] {
            let verdict = Verdict(
                evidence { evidence in
                    send("n2", after: 150, heardAfter: 170, in: &evidence)
                    disturb(.machine, action, after: 100, in: &evidence)
                })
            #expect(verdict.doubled == 1)
            #expect(verdict.isGood == canDouble, "\(action)")
        }
    }

    @Test("A broken path to FCM explains a copy that the relay gave up")
    func brokenWay() {
        for (relay, canDouble) in [(Part.relay1, true), (.relay2, false)] {
            let verdict = Verdict(
                evidence { evidence in
                    send("n2", after: 50, heardAfter: nil, in: &evidence)
                    evidence.failures[Self.component] = [Observation(relay: .relay1, time: Self.start + 90)]
                    disturb(relay, .cutOff, after: 60, in: &evidence)
                })
            #expect(verdict.isGood == canDouble, "\(relay)")
        }
    }

    @Test("Posts may be refused for a full disk only while it is full")
    func refusals() {
        for (delay, isRight) in [(Int64(200), true), (20_000, false)] {
            let verdict = Verdict(
                evidence { evidence in
                    evidence.refusals = [Self.start + delay]
                    disturb(.machine, .fillDisk, after: 100, in: &evidence)
                })
            #expect(verdict.isGood == isRight)
        }
    }

    @Test(
        "Posts may be left without an answer only while the gateway is frozen",
        arguments: [(Part.gateway, Fault.Action.freeze), (.gateway, .kill), (.database, .kill), (.messageLog1, .freeze)])
    func hangs(_ part: Part, _ action: Fault.Action) {
        let hung = evidence {
            $0.hangs = [Self.start + 10_050]
            disturb(part, action, after: 100, in: &$0)
        }
        #expect(Verdict(hung).isGood == (part == .gateway && action == .freeze))
    }

    @Test("The times of a message are not judged if the clock was set while it was sent")
    func clock() {
        let verdict = Verdict(
            evidence { evidence in
                evidence.sends = [:]
                send("n", after: -1_000, heardAfter: 20, in: &evidence)
                disturb(.machine, .setClockForward, after: -500, in: &evidence)
            })
        #expect(verdict.isGood, "\(verdict.problems)")
    }
}
