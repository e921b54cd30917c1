import Schemas
import Testing

@testable import Chaos

/// The checks of what phones have got about sessions, on evidence made by the tests.
@Suite("The verdict about pushes on the phones of people who study")
struct StudyArrivalTests {
    private static let received = StudyVerdictTests.start + 120_000

    /// Ben's phone has got a push.
    private static func arrival(
        _ name: String, _ kind: PushKind = .sessionEnded, after delay: Int64 = 0
    ) -> StudyEvidence.Arrival {
        StudyEvidence.Arrival(
            place: .init(kind: "\(kind)", session: "\(StudyVerdictTests.id)", account: "ben"), name: name,
            received: received + delay)
    }

    private static func verdict(_ change: (inout StudyEvidence) throws -> Void) throws -> StudyVerdict {
        var evidence = try StudyVerdictTests.evidence()
        try change(&evidence)
        return StudyVerdict(evidence)
    }

    @Test("A push that arrives twice is counted, and needs a fault that can double it, while it was in flight")
    func doubled() throws {
        func problems(_ part: Part, _ action: Fault.Action, after delay: Int64, for length: Int64 = 500) throws -> [String] {
            let verdict = try Self.verdict { evidence in
                evidence.arrivals = [Self.arrival("first"), Self.arrival("n", after: 60_000)]
                let began = Self.received + delay
                evidence.injectedFaults = [InjectedFault(part: part, action: action, began: began, ended: began + length)]
            }
            #expect(verdict.summary.contains(" arrived=2 ") && verdict.summary.contains(" doubled=1 "))
            return verdict.problems
        }
        #expect(try problems(.relay1, .kill, after: 100) == [])
        #expect(try problems(.messageLog2, .kill, after: 2_000) == [])
        #expect(try problems(.relay1, .silenceConnections, after: -2_000) == [])
        #expect(try problems(.machine, .cutPower, after: 100) == [])
        for (part, action, delay) in [
            (Part.relay1, Fault.Action.kill, Int64(10_000)), (.relay1, .kill, -20_000), (.relay1, .restart, 100),
            (.gateway, .kill, 100), (.machine, .setClockForward, 100), (.machine, .fillDisk, 100),
        ] {
            let found = try problems(part, action, after: delay)
            #expect(found.count == 1 && found.first?.hasPrefix("unexplained") == true, "\(part) \(action) \(delay): \(found)")
        }
    }

    @Test("What cannot be stored for a while is in flight for longer")
    func outages() throws {
        func count(_ outage: InjectedFault?, storing: Int64 = 0) throws -> Int {
            try Self.verdict { evidence in
                evidence.arrivals = [Self.arrival("first"), Self.arrival("n", after: 60_000)]
                let began = Self.received + 15_000
                evidence.injectedFaults = [InjectedFault(part: .messageLog1, action: .kill, began: began, ended: began + 500)]
                evidence.injectedFaults += [outage].compactMap(\.self)
                evidence.storing = storing
            }.problems.count
        }
        let full = InjectedFault(part: .machine, action: .fillDisk, began: Self.received - 1_000, ended: Self.received + 5_000)
        #expect(try count(nil) == 1)
        #expect(try count(nil, storing: 20_000) == 0)
        #expect(try count(full) == 0)
    }

    @Test("Two pushes of a kind about a session are not one that has arrived twice")
    func several() throws {
        func verdict(arrived names: [String]) throws -> StudyVerdict {
            try Self.verdict { evidence in
                evidence.records.sessions[StudyVerdictTests.id]?.handOvers["ben"] = StudyRecords.Count(certain: 2, possible: 2)
                for name in ["one", "two"] {
                    var push = StudyVerdictTests.push(.sessionHost, to: "ben")
                    push.name = name
                    evidence.pushes.append(push)
                    evidence.names.insert(name)
                }
                evidence.arrivals = names.map { Self.arrival($0, .sessionHost) }
            }
        }
        let good = try verdict(arrived: ["one", "two"])
        #expect(good.problems == [] && good.summary.contains(" doubled=0 "))
        let bad = try verdict(arrived: ["one", "two", "three"])
        #expect(bad.problems.count == 1 && bad.summary.contains(" doubled=1 "))
    }

    @Test("A push that has expired on its way may have arrived once")
    func expired() throws {
        func problems(arrived names: [String]) throws -> Int {
            try Self.verdict { evidence in
                let expired = StudyVerdictTests.push(.sessionEnded, to: "ben", .expired)
                evidence.pushes = evidence.pushes.filter { $0.kind != .sessionEnded } + [expired]
                evidence.arrivals = names.map { Self.arrival($0) }
            }.problems.count
        }
        #expect(try problems(arrived: []) == 0)
        #expect(try problems(arrived: ["one"]) == 0)
        #expect(try problems(arrived: ["one", "two"]) == 1)
    }

    @Test("A push that the message log does not have for this person is a problem, even during a fault")
    func stray() throws {
        let stray = try Self.verdict { evidence in
            evidence.arrivals = [Self.arrival("n"), Self.arrival("other", .sessionInvite)]
            evidence.injectedFaults = [
                InjectedFault(part: .relay1, action: .kill, began: Self.received, ended: Self.received + 500)
            ]
        }
        #expect(stray.problems.count == 1 && stray.problems.first?.hasSuffix("which is not logged") == true)
    }
}
