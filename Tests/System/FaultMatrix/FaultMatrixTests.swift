import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// Every fault of the emulator, for Alerts and Information, with one relay and two. FCM has each accepted message exactly
    /// once, or the message is final for the reason in the table. All cells of a scene run at the same time.
    @Suite("Fault matrix", .faultMatrix, .atLength)
    struct FaultMatrixTests {
        @Test("Every message of a cell ends as the fault table says", arguments: CellRun.all, [1, 2])
        func cell(run: CellRun, relays: Int) throws {
            let outcome = try FaultMatrix.outcome(of: run.scene, relays: relays)
            let cell = try #require(outcome.cells[run.cell])
            #expect(cell.map(\.distribution) == ["Alert", "Information"])
            for outcome in cell { #expect(outcome.problems(with: run.cell) == []) }
        }

        @Test(
            "FCM's counts agree: every component is there, and there are no more copies than the faults explain",
            arguments: Scene.all, [1, 2])
        func counts(scene: Scene, relays: Int) throws {
            let outcome = try FaultMatrix.outcome(of: scene, relays: relays)
            let sends = outcome.cells.values.joined().flatMap(\.sends)
            #expect(outcome.counts.accepted == sends.count)
            #expect(outcome.counts.distinct == Set(sends.map(\.component)).count)
            #expect(outcome.counts.unkeyed == 0)
            let copies = outcome.cells.values.joined().reduce(0) { $0 + $1.copies }
            if let streams = scene.streams { #expect(copies <= outcome.hits * streams) }
            if scene.cells.contains(where: { $0.fault != nil }) { #expect(outcome.hits > 0) }
        }

        @Test("With two relays, both work", arguments: Scene.all)
        func bothRelays(scene: Scene) throws {
            let outcome = try FaultMatrix.outcome(of: scene, relays: 2)
            let second = try #require(outcome.acceptedBySecondRelay)
            #expect(second > 0 && second < outcome.counts.accepted)
        }
    }
}

/// Runs the whole matrix before the tests of a suite, which check the outcomes.
struct FaultMatrix: SuiteTrait, TestScoping {
    /// The maximum number of runs at the same time.
    private static let maxAtOnce = 4

    @TaskLocal private static var outcomes: [SceneRun: Result<SceneRun.Outcome, any Error>] = [:]

    static func outcome(of scene: Scene, relays: Int) throws -> SceneRun.Outcome {
        try #require(outcomes[SceneRun(scene: scene, relays: relays)]).get()
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let runs = Scene.all.flatMap { scene in [1, 2].map { SceneRun(scene: scene, relays: $0) } }
        let outcomes = await withTaskGroup(of: (SceneRun, Result<SceneRun.Outcome, any Error>).self) { group in
            var outcomes: [SceneRun: Result<SceneRun.Outcome, any Error>] = [:]
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

extension SystemTests.WithoutSupervisor {
    /// A few cells of the fault matrix: errors that are retried, with FCM's Retry-After, and errors that are not, broken connections, and
    /// refused credentials.
    @Suite("Faults of FCM")
    struct FaultTests {
        @Test("Every message of a cell ends as the fault table says", arguments: Scene.short)
        func scene(_ scene: Scene) async throws {
            try await SharedServices.use { services in
                let sections = scene.behaviour.members ?? []
                for section in sections { try await services.fcm.control(.PUT, section.name, section.value) }
                _ = try await services.start("msi-fcm-relay")
                _ = try await services.start("msi-message-log")
                let outcome = try await SceneRun(scene: scene, relays: 1).run(at: services.portal, services.fcm)
                for section in sections { try await services.fcm.control(.PUT, section.name, [:]) }
                #expect(outcome.cells.count == scene.cells.count)
                for (cell, outcomes) in outcome.cells {
                    #expect(outcomes.map(\.distribution) == ["Alert", "Information"])
                    for outcome in outcomes { #expect(outcome.problems(with: cell) == [], "\(cell.testDescription)") }
                }
            }
        }
    }
}

extension Trait where Self == FaultMatrix {
    static var faultMatrix: FaultMatrix { FaultMatrix() }
}
