import Base
@testable import FCMEmulator
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// Every fault of the emulator, for Alerts and Information, with one relay and two. FCM has each accepted message exactly
    /// once, or the message is final for the reason in the table. All cases of a scenario run at the same time.
    @Suite("Fault matrix", .faultMatrix, .atLength)
    struct FaultMatrixTests {
        @Test("Every message of a case ends as the fault table says", arguments: CaseRun.all, [1, 2])
        func faultCase(run: CaseRun, relays: Int) throws {
            let outcome = try FaultMatrix.outcome(of: run.scenario, relays: relays)
            let faultCase = try #require(outcome.cases[run.faultCase])
            #expect(faultCase.map(\.distribution) == ["Alert", "Information"])
            for outcome in faultCase { #expect(outcome.problems(with: run.faultCase) == []) }
        }

        @Test(
            "FCM's counts agree: every component is there, and there are no more copies than the faults explain",
            arguments: Scenario.all, [1, 2])
        func counts(scenario: Scenario, relays: Int) throws {
            let outcome = try FaultMatrix.outcome(of: scenario, relays: relays)
            let sends = outcome.cases.values.joined().flatMap(\.sends)
            #expect(outcome.counts.accepted == sends.count)
            #expect(outcome.counts.distinct == Set(sends.map(\.component)).count)
            #expect(outcome.counts.unkeyed == 0)
            let copies = outcome.cases.values.joined().reduce(0) { $0 + $1.copies }
            if let streams = scenario.streams { #expect(copies <= outcome.hits * streams) }
            if scenario.cases.contains(where: { $0.fault != nil }) { #expect(outcome.hits > 0) }
        }

        @Test("With two relays, both work", arguments: Scenario.all)
        func bothRelays(scenario: Scenario) throws {
            let outcome = try FaultMatrix.outcome(of: scenario, relays: 2)
            let second = try #require(outcome.acceptedBySecondRelay)
            #expect(second > 0 && second < outcome.counts.accepted)
        }
    }
}

/// Runs the whole matrix before the tests of a suite, which check the outcomes.
struct FaultMatrix: SuiteTrait, TestScoping {
    /// The maximum number of runs at the same time.
    private static let maxAtOnce = 4

    @TaskLocal private static var outcomes: [ScenarioRun: Result<ScenarioRun.Outcome, any Error>] = [:]

    static func outcome(of scenario: Scenario, relays: Int) throws -> ScenarioRun.Outcome {
        try #require(outcomes[ScenarioRun(scenario: scenario, relays: relays)]).get()
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let runs = Scenario.all.flatMap { scenario in [1, 2].map { ScenarioRun(scenario: scenario, relays: $0) } }
        let outcomes = await withTaskGroup(of: (ScenarioRun, Result<ScenarioRun.Outcome, any Error>).self) { group in
            var outcomes: [ScenarioRun: Result<ScenarioRun.Outcome, any Error>] = [:]
            for (index, run) in runs.enumerated() {
                // Each is a whole product.
                if index >= Self.maxAtOnce, let (run, outcome) = await group.next() { outcomes[run] = outcome }
                group.addTask {
                    do {
                        return (run, .success(try await run.run()))
                    } catch {
                        return (run, .failure(error))
                    }
                }
            }
            return await group.reduce(into: outcomes) { $0[$1.0] = $1.1 }
        }
        try await Self.$outcomes.withValue(outcomes) { try await function() }
    }
}

extension HarmTests.WithoutSupervisor {
    /// A few cases of the fault matrix: errors that are retried, with FCM's Retry-After, and errors that are not, broken connections, and
    /// refused credentials.
    @Suite("Faults of FCM")
    struct FaultTests {
        @Test("Every message of a case ends as the fault table says", arguments: Scenario.short)
        func scenario(_ scenario: Scenario) async throws {
            try await SharedServices.use { services in
                let sections = scenario.behaviour.members ?? []
                for section in sections { try await services.fcm.control(.PUT, section.name, section.value) }
                _ = try await services.start("msi-fcm-relay")
                _ = try await services.start("msi-message-log")
                let outcome = try await ScenarioRun(scenario: scenario, relays: 1).run(at: services.portal, services.fcm)
                for section in sections { try await services.fcm.control(.PUT, section.name, [:]) }
                #expect(outcome.cases.count == scenario.cases.count)
                for (faultCase, outcomes) in outcome.cases {
                    #expect(outcomes.map(\.distribution) == ["Alert", "Information"])
                    for outcome in outcomes { #expect(outcome.problems(with: faultCase) == [], "\(faultCase.testDescription)") }
                }
            }
        }
    }
}

extension Trait where Self == FaultMatrix {
    static var faultMatrix: FaultMatrix { FaultMatrix() }
}

extension SystemTests {
    @Suite("Fault table")
    struct FaultTableTests {
        @Test("The matrix has every fault of the emulator, and every form of its answers")
        func all() {
            let rules = Scenario.all.flatMap { $0.rules + $0.cases.compactMap(\.fault) }
            func values(_ name: String) -> Set<String> { Set(rules.compactMap { $0[name]?.string }) }
            #expect(values("fault") == Set(FaultName.allCases.map(\.rawValue)))
            #expect(values("body") == Set(FaultAnswer.Body.allCases.map(\.rawValue)))
            #expect(values("by") == ["RESET_STREAM", "CLOSE_CONNECTION", "CUT_CONNECTION"])
            #expect(rules.contains { $0["retry_after_form"] == "DATE" } && rules.contains { $0["retry_after_s"] != nil })
        }
    }
}
