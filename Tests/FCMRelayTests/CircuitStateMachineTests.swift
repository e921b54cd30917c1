import Testing

@testable import FCMRelay

@Suite("When an FCM that fails is left alone")
struct CircuitStateMachineTests {
    private static let start = ContinuousClock.now

    /// One that has failed as often as it takes.
    private static func opened() -> CircuitStateMachine {
        var circuit = CircuitStateMachine()
        for _ in 0..<20 { circuit.failed(at: start) }
        return circuit
    }

    @Test("after twenty failures in a row nothing is sent for a second, then one request")
    func opens() {
        var circuit = CircuitStateMachine()
        for _ in 0..<19 {
            circuit.failed(at: Self.start)
            let pause = circuit.admit(at: Self.start)
            #expect(pause == nil)
        }
        circuit.failed(at: Self.start)
        let pauses = [Duration.zero, .milliseconds(999), .seconds(1), .seconds(1)].map { circuit.admit(at: Self.start + $0) }
        #expect(pauses == [.seconds(1), .milliseconds(1), nil, .seconds(15)])
    }

    @Test("any answer begins the count anew, and ends the pause")
    func answers() {
        var circuit = CircuitStateMachine()
        for number in 0..<100 {
            if number % 19 == 0 { circuit.answered() }
            circuit.failed(at: Self.start)
        }
        let pause = circuit.admit(at: Self.start)
        #expect(pause == nil)

        var open = Self.opened()
        open.answered()
        let after = open.admit(at: Self.start)
        #expect(after == nil)
    }

    @Test("each request that finds nothing better doubles the pause, up to eight seconds")
    func pauses() {
        var circuit = Self.opened()
        var now = Self.start
        var pauses: [Duration?] = []
        for _ in 0..<5 {
            let pause = circuit.admit(at: now)
            pauses.append(pause)
            now += pause ?? .zero
            _ = circuit.admit(at: now)
            circuit.failed(at: now)
        }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(8)])
    }

    @Test("failures of what was under way before do not make the pause longer")
    func lateFailures() {
        var circuit = Self.opened()
        for _ in 0..<500 { circuit.failed(at: Self.start + .milliseconds(900)) }
        let pause = circuit.admit(at: Self.start + .seconds(1))
        #expect(pause == nil)
    }

    @Test("a request that ended before FCM could answer makes way for the next")
    func nothingLearned() {
        var circuit = Self.opened()
        let now = Self.start + .seconds(1)
        _ = circuit.admit(at: now)
        circuit.learnedNothing(at: now)
        let pause = circuit.admit(at: now)
        #expect(pause == nil)
    }

    @Test("a request that is never heard of again does not keep the others away")
    func lostTrial() {
        var circuit = Self.opened()
        _ = circuit.admit(at: Self.start + .seconds(1))
        let pause = circuit.admit(at: Self.start + .seconds(16))
        #expect(pause == nil)
    }
}
