import TestSupport

/// The clock of the product's machine, with its steps.
struct MachineClock: Sendable {
    /// How long after a step a process may still use the time before the step, in milliseconds: it checks once a second.
    private static let margin: Int64 = 2_000

    private let steps: [InjectedFault]

    init(_ injectedFaults: [InjectedFault]) {
        steps = injectedFaults.filter { $0.action.clockOffset != 0 }
    }

    /// Converts a time of the machine's clock to the real time, in Unix milliseconds.
    func real(_ time: Int64) -> Int64 {
        for step in steps {
            let real = time - step.action.clockOffset
            if (step.began...step.ended + Self.margin).contains(real) { return real }
        }
        return time
    }

    /// Whether the clock was right at the beginning of a time, and not ahead since then.
    ///
    /// - Parameter time: Of the machine's clock.
    func wasNeverAhead(during time: ClosedRange<Int64>) -> Bool {
        let affected = time.lowerBound - Self.margin...time.upperBound
        return real(time.lowerBound) == time.lowerBound
            && !steps.contains { $0.action.clockOffset > 0 && $0.overlaps(affected) }
    }

    /// Whether the clock was set while a message was being processed. Then its times are unreliable.
    func wasSet(during message: ArchivedMessage) -> Bool {
        let life = message.due...max(message.due, message.expires)
        return steps.contains { step in
            let time = step.began - Self.margin...step.ended + Self.margin
            let offset = step.action.clockOffset
            return life.overlaps(time) || (life.lowerBound - offset...life.upperBound - offset).overlaps(time)
        }
    }
}
