import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The turns of phones' queries.
@Suite("Turns of queries", .timeLimit(.minutes(10)))
struct QueryTurnsTests {
    /// Bodies that run until they are let go.
    private final class Bodies: Sendable {
        private struct State {
            var running: [CheckedContinuation<Void, Never>] = []
            var most = 0
            var order: [Int] = []
        }

        private let state = Mutex(State())

        var running: Int { state.withLock(\.running.count) }
        var most: Int { state.withLock(\.most) }
        var order: [Int] { state.withLock(\.order) }

        func run(_ number: Int) async {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.running.append(continuation)
                    state.order.append(number)
                    state.most = max(state.most, state.running.count)
                }
            }
        }

        func letGo() {
            state.withLock { $0.running.isEmpty ? nil : $0.running.removeFirst() }?.resume()
        }
    }

    @Test("Few run at once, the others wait in their order, and an error ends a turn like a result")
    func order() async throws {
        let turns = QueryTurns(maxRunning: 2, maxWaiting: 10, maxWait: .seconds(60))
        let bodies = Bodies()
        struct Failure: Error {}
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    do {
                        try await turns.take {
                            await bodies.run(number)
                            if number == 1 { throw Failure() }
                        }
                    } catch is Failure {
                        #expect(number == 1)
                    }
                }
                // One after another, so that the order is known.
                try await eventually("body \(number) runs or waits") {
                    let waiting = await turns.waitingCount
                    return bodies.running + waiting == number + 1
                }
            }
            for _ in 0..<6 {
                try await eventually("a body runs") { bodies.running > 0 }
                bodies.letGo()
            }
            try await group.waitForAll()
        }
        #expect(bodies.order == Array(0..<6) && bodies.most == 2)
    }

    @Test("Too many, and those who have waited too long, get an error, and the turns go on")
    func overloaded() async throws {
        let turns = QueryTurns(maxRunning: 1, maxWaiting: 1, maxWait: .zero)
        let bodies = Bodies()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await turns.take { await bodies.run(0) } }
            try await eventually("the first one runs") { bodies.running == 1 }
            group.addTask {
                let failure = await #expect(throws: CommandFailure.self) { try await turns.take {} }
                #expect(failure?.status == .overloaded)
            }
            try await eventually("the second one waits") { await turns.waitingCount == 1 }
            let failure = await #expect(throws: CommandFailure.self) { try await turns.take {} }
            #expect(failure?.status == .overloaded)
            bodies.letGo()
            try await group.waitForAll()
        }
        #expect(try await turns.take { 7 } == 7)
    }
}
