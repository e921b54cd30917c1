/// When each message is due, from the first on: evenly at a rate, after a ramp in which the rate rises evenly from nothing.
/// Pure. Times are seconds from the beginning.
struct ArrivalSchedule: Sendable {
    let rate: Double
    let ramp: Double
    let duration: Double

    /// How many messages the ramp has: half as many as at the full rate.
    private var messagesInRamp: Double { rate * ramp / 2 }

    /// How many messages there are.
    var count: Int {
        Int((messagesInRamp + rate * (duration - ramp)).rounded(.up))
    }

    /// When a message is due.
    ///
    /// - Parameter index: From 0.
    func moment(of index: Int) -> Double {
        let number = Double(index)
        guard number < messagesInRamp else { return ramp + (number - messagesInRamp) / rate }
        return (2 * number * ramp / rate).squareRoot()
    }

    /// Whether a message is due in the ramp.
    func isInRamp(_ index: Int) -> Bool {
        Double(index) < messagesInRamp
    }
}
