import Base
import TestSupport

/// The emulator's faults and settings for a period.
struct FaultPhase: Hashable, Sendable {
    let name: String
    /// `PUT /emulator/faults`.
    var faults: [JSONValue] = []
    /// `PUT /emulator/<section>`, for sections that differ from the start.
    var sections: [String: JSONValue] = [:]
    /// The emulator stops and starts again.
    var outage: Outage?

    struct Outage: Hashable, Sendable {
        enum End: Hashable, Sendable {
            /// SIGTERM.
            case stop
            /// SIGKILL.
            case kill
        }

        let end: End
        let length: Duration
    }

    static let faultless = FaultPhase(name: "no faults")
    /// Delays every request until all requests of a flood are pending.
    static let hold = FaultPhase(name: "hold", faults: [["fault": "DELAY", "fixed_ms": 3000]])
}

/// A seeded random sequence of fault phases: all phases in random order, then all in another order, so that each occurs equally
/// often.
struct FaultPhaseSequence: Sendable {
    private var random: SeededGenerator
    private var remaining: [FaultPhase] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The next phase, and the emulator's seed for the choice of requests.
    mutating func next() -> (phase: FaultPhase, seed: Int64) {
        if remaining.isEmpty { remaining = FaultPhase.all.shuffled(using: &random) }
        return (remaining.removeLast(), Int64.random(in: 0...Int64(Int32.max), using: &random))
    }
}
