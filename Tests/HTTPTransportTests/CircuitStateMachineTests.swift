import Testing

@testable import HTTPTransport

@Suite("When a server that fails gets no requests")
struct CircuitStateMachineTests {
    private static let start = ContinuousClock.now

    /// A machine after enough failures to open the circuit.
    private static func opened() -> CircuitStateMachine {
        var circuit = CircuitStateMachine(probeTimeout: .seconds(20))
        for _ in 0..<20 { circuit.failed(at: start) }
        return circuit
    }

    @Test("After twenty failures in a row, nothing is sent for a second, and then one request")
    func opens() {
        var circuit = CircuitStateMachine(probeTimeout: .seconds(20))
        for _ in 0..<19 {
            circuit.failed(at: Self.start)
            let admission = circuit.admit(at: Self.start)
            #expect(admission == .go)
        }
        circuit.failed(at: Self.start)
        let admissions = [Duration.zero, .milliseconds(999), .seconds(1), .seconds(1)].map { circuit.admit(at: Self.start + $0) }
        #expect(admissions == [.wait(.seconds(1)), .wait(.milliseconds(1)), .probe, .wait(.seconds(20))])
    }

    @Test("Any answer resets the count and ends the pause")
    func answers() {
        var circuit = CircuitStateMachine(probeTimeout: .seconds(20))
        for number in 0..<100 {
            if number % 19 == 0 { circuit.answered() }
            circuit.failed(at: Self.start)
        }
        let admission = circuit.admit(at: Self.start)
        #expect(admission == .go)

        var open = Self.opened()
        open.answered()
        let after = open.admit(at: Self.start)
        #expect(after == .go)
    }

    @Test("Each failed probe doubles the pause, up to eight seconds")
    func pauses() {
        var circuit = Self.opened()
        var now = Self.start
        var pauses: [Duration] = []
        for _ in 0..<5 {
            guard case .wait(let pause) = circuit.admit(at: now) else { break }
            pauses.append(pause)
            now += pause
            _ = circuit.admit(at: now)
            circuit.failed(at: now)
        }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(8)])
    }

    @Test("Failures of requests that began earlier do not extend the pause")
    func lateFailures() {
        var circuit = Self.opened()
        for _ in 0..<500 { circuit.failed(at: Self.start + .milliseconds(900)) }
        let admission = circuit.admit(at: Self.start + .seconds(1))
        #expect(admission == .probe)
    }

    @Test("A probe that ended before the server could answer lets the next one begin")
    func nothingLearned() {
        var circuit = Self.opened()
        let now = Self.start + .seconds(1)
        _ = circuit.admit(at: now)
        circuit.learnedNothing(at: now)
        let admission = circuit.admit(at: now)
        #expect(admission == .probe)
    }

    @Test("A probe that never ends does not block the others")
    func lostProbe() {
        var circuit = Self.opened()
        _ = circuit.admit(at: Self.start + .seconds(1))
        let admission = circuit.admit(at: Self.start + .seconds(21))
        #expect(admission == .probe)
    }
}
