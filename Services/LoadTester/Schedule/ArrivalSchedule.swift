/// The due time of each message: at a constant rate, after a ramp in which the rate rises linearly from nothing. Pure. Times are
/// seconds from the beginning.
struct ArrivalSchedule: Sendable {
    let rate: Double
    let ramp: Double
    let duration: Double

    /// The number of messages in the ramp: half of those in the same time at the full rate.
    private var messagesInRamp: Double { rate * ramp / 2 }

    /// The number of messages.
    var count: Int {
        Int((messagesInRamp + rate * (duration - ramp)).rounded(.up))
    }

    /// The due time of a message.
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
