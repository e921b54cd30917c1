import Schemas
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// The turns of requests that anyone can make.
@Suite("Fair turns", .timeLimit(.minutes(10)))
struct FairSemaphoreTests {
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
        let turns = FairSemaphore(maxRunning: 2, maxWaiting: 10, maxWait: .seconds(60), refusal: "")
        let bodies = Bodies()
        struct Failure: Error {}
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    do {
                        try await turns.take(for: nil) {
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
        let turns = FairSemaphore(maxRunning: 1, maxWaiting: 1, maxWait: .zero, refusal: "")
        let bodies = Bodies()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await turns.take(for: nil) { await bodies.run(0) } }
            try await eventually("the first one runs") { bodies.running == 1 }
            group.addTask {
                let failure = await #expect(throws: CommandFailure.self) { try await turns.take(for: nil) {} }
                #expect(failure?.status == .overloaded)
            }
            try await eventually("the second one waits") { await turns.waitingCount == 1 }
            let failure = await #expect(throws: CommandFailure.self) { try await turns.take(for: nil) {} }
            #expect(failure?.status == .overloaded)
            bodies.letGo()
            try await group.waitForAll()
        }
        #expect(try await turns.take(for: nil) { 7 } == 7)
    }

    @Test("Networks take turns, and within each its customers; one with many addresses takes no place from others")
    func networks() throws {
        var queue = FairQueue<String>(maxWaiting: 6)
        func add(_ name: String, _ address: String) -> String? { queue.add(name, from: IPAddress(address)) }
        // One /48 with any number of /64.
        for number in 0..<6 { #expect(add("a\(number)", "2001:db8:a:\(number)::1") == nil) }
        #expect(add("a6", "2001:db8:a:6::1") == "a6")
        #expect(add("b0", "192.0.2.1") == "a5" && add("b1", "192.0.2.1") == "a4")
        // The addresses of a /24 share its places: another one takes that of the one with two.
        #expect(add("b2", "192.0.2.1") == "a3")
        #expect(add("b3", "192.0.2.2") == "b2")
        #expect(add("c0", "2001:db8:c::1") != nil)
        #expect(queue.count == 6)
        var order: [String] = []
        while let next = queue.next() { order.append(next) }
        #expect(order.count == 6 && queue.next() == nil && queue.count == 0)
        #expect(Set(order.prefix(3)) == ["a0", "b0", "c0"], "\(order)")
    }

    @Test("Clients without an address are one network, and loopback addresses one each")
    func unknown() throws {
        var queue = FairQueue<Int>(maxWaiting: 2)
        for number in 0..<2 { #expect(queue.add(number, from: nil) == nil) }
        #expect(queue.add(2, from: nil) == 2)
        #expect(queue.add(3, from: IPAddress("127.0.0.1")) == 1)
        #expect(queue.next() == 0 && queue.next() == 3 && queue.next() == nil)
    }
}
