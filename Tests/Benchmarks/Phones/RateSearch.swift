/// A search for the highest rate that is kept: at which the delay of the last phone does not grow. Pure.
struct RateSearch {
    /// The highest rate that was kept; 0 before.
    private(set) var kept = 0.0
    /// The lowest rate that was not kept.
    private(set) var exceeded = Double.infinity
    private let first: Double
    private let maxAttempts: Int
    private var attempts = 0

    private static let step = 1.4
    /// The search ends when the two rates are this near.
    private static let precision = 1.1

    /// - Parameter first: The rate to begin with.
    init(from first: Double, maxAttempts: Int) {
        self.first = first
        self.maxAttempts = maxAttempts
    }

    /// The rate to try next; `nil` at the end.
    var next: Double? {
        guard attempts < maxAttempts, exceeded / kept > Self.precision else { return nil }
        if attempts == 0 { return first }
        if kept == 0 { return exceeded / Self.step }
        if exceeded == .infinity { return kept * Self.step }
        return (kept * exceeded).squareRoot()
    }

    mutating func note(_ rate: Double, isKept: Bool) {
        attempts += 1
        if isKept { kept = max(kept, rate) } else { exceeded = min(exceeded, rate) }
    }

    /// Whether delays stay the same: from the first third of the messages to the last one, their median grows by less than the time
    /// between two messages, or by less than a quarter. At a rate that is too high each message waits longer than the one before.
    ///
    /// - Parameters:
    ///   - delays: In the order of the messages, in milliseconds.
    ///   - rate: Messages a second.
    static func isKept(_ delays: [Double], rate: Double) -> Bool {
        let third = max(1, delays.count / 3)
        let (begin, end) = (Array(delays.prefix(third)).median, Array(delays.suffix(third)).median)
        return end - begin <= max(1_000 / rate, begin / 4)
    }
}
