import Schemas
import Testing

@testable import Chaos

/// The checks of how much has happened in a run, on evidence made by the tests.
@Suite("The variety of what people do who study")
struct StudyVarietyTests {
    /// - Parameter change: Changes evidence in which one session was started and joined, and one push has arrived.
    private static func problems(
        seconds: Int, people: Int = 23, _ change: (inout StudyEvidence) throws -> Void = { _ in }
    ) throws -> [String] {
        var evidence = try StudyVerdictTests.evidence()
        evidence.records.turns = people
        evidence.plan = StudyVariety.Plan(length: .seconds(seconds), people: people, period: .milliseconds(1_280))
        try change(&evidence)
        return StudyVariety(evidence).problems
    }

    @Test("A run of ten minutes with many people has everything, and one with few people or less time need not")
    func everything() throws {
        let missing = try Self.problems(seconds: 600)
        let absences = [
            "no session has ended by its time", "no session has ended because its host had left",
            "no session was handed over", "no post was stored", "no answer has shown two open sessions",
        ]
        #expect(missing.count == absences.count)
        for (problem, absence) in zip(missing, absences) { #expect(problem.hasPrefix(absence), "\(problem)") }
        #expect(try Self.problems(seconds: 599) == [])
        #expect(try Self.problems(seconds: 600, people: 5) == [])
        let nothing = try Self.problems(seconds: 600) { evidence in
            (evidence.past, evidence.arrivals, evidence.records.sessions) = ([:], [], [:])
        }
        #expect(nothing.count == StudyVariety.Kind.allCases.count)
        #expect(try Self.problemsOfAll() == [])
    }

    /// - Parameter injectedFaults: Those during a run of ten minutes in which everything has happened.
    private static func problemsOfAll(_ injectedFaults: [InjectedFault] = []) throws -> [String] {
        try problems(seconds: 600) { evidence in
            for reason in [SessionEnd.time, .left] { evidence.past[ObjectID()] = try StudyVerdictTests.past([], reason) }
            evidence.records.sessions[StudyVerdictTests.id]?.handOvers["ben"] = StudyRecords.Count(certain: 1, possible: 1)
            evidence.posts[StudyVerdictTests.id] = [
                SessionPost(
                    id: ObjectID(), author: nil, number: 1, role: .student, text: "a",
                    at: UnixMilliseconds(rawValue: StudyVerdictTests.start), removed: nil)
            ]
            evidence.records.compared = 1
            evidence.injectedFaults = injectedFaults
        }
    }

    @Test("A session that the machine's clock has ended has not ended by its time")
    func steps() throws {
        /// The session is open from the start for 120 seconds.
        func count(_ action: Fault.Action, _ seconds: ClosedRange<Int64>) throws -> Int {
            let (began, ended) = (seconds.lowerBound * 1_000, seconds.upperBound * 1_000)
            let step = InjectedFault(
                part: .machine, action: action, began: StudyVerdictTests.start + began, ended: StudyVerdictTests.start + ended)
            return try Self.problemsOfAll([step]).count { $0.hasPrefix("no session has ended by its time") }
        }
        #expect(try count(.setClockForward, 60...65) == 1)
        #expect(try count(.setClockForward, -6 ... -1) == 1, "a process checks the clock once a second")
        #expect(try count(.setClockForward, -10 ... -5) == 0)
        #expect(try count(.setClockForward, 121...125) == 0)
        #expect(try count(.setClockBack, 60...65) == 0)
        #expect(try count(.setClockBack, 3_599...3_605) == 1, "it has begun with a clock that was behind")
        #expect(try count(.fillDisk, 60...65) == 0)
    }

    @Test("What people have often asked for has happened in a run of a minute")
    func tries() throws {
        for (kind, absence) in [
            (StudyVariety.Kind.posts, "no post was stored"), (.handedOver, "no session was handed over"),
            (.left, "no session has ended because its host had left"),
        ] {
            #expect(try Self.problems(seconds: 60) { $0.records.tries[kind] = 19 } == [])
            let often = try Self.problems(seconds: 60) { $0.records.tries[kind] = 20 }
            #expect(often.count == 1 && often.first?.hasPrefix("\(absence) (tried 20 times by 23 people") == true)
            #expect(try Self.problems(seconds: 59) { $0.records.tries[kind] = 20 } == [])
        }
        #expect(try Self.problems(seconds: 60) { $0.records.tries[.joined] = 20 } == [], "it has happened")
        let unjoined = try Self.problems(seconds: 60) { evidence in
            evidence.records.tries[.joined] = 20
            evidence.records.sessions[StudyVerdictTests.id]?.joined = []
        }
        #expect(unjoined.count == 1)
        let silent = try Self.problems(seconds: 60) { evidence in
            evidence.arrivals = []
            evidence.pushes = (0..<50).map { _ in StudyVerdictTests.push(.sessionEnded, to: "ben") }
        }
        #expect(silent.count == 1)
    }

    @Test("Each person does something within a minute")
    func turns() throws {
        #expect(try Self.problems(seconds: 60) { $0.records.turns = 22 }.count == 1)
        #expect(try Self.problems(seconds: 59) { $0.records.turns = 22 } == [])
    }

    @Test("What is missing is a problem of the run, but not one that waiting may mend")
    func verdict() throws {
        var study = try StudyVerdictTests.evidence()
        study.plan = StudyVariety.Plan(length: .seconds(60), people: 1, period: .seconds(1))
        #expect(StudyVerdict(study).problems == [])
        let problems = StudyVariety(study).problems
        #expect(problems.count == 1)
        var evidence = Evidence()
        evidence.study = study
        #expect(Set(Verdict(evidence).problems).isSuperset(of: problems))
    }
}
