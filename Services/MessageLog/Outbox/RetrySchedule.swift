import Schemas

/// When a component that FCM did not accept is tried again: after 10 s, then twice as long each time, up to 10 minutes, each
/// time a fifth more or less so that many messages do not come back at once (FCM's advice: exponential, jittered, at
/// least 10 s before a first retry). Where FCM asks for a longer wait, it gets that, and up to a fifth more for the same reason.
struct RetrySchedule: Sendable {
    /// However often a relay has kept a message back, the wait is that of the second attempt: soon after FCM is back, and not too
    /// often for an outbox that fills up.
    static let maxCountedWithoutFCM = 2

    var first: Int64 = 10_000
    var longest: Int64 = 600_000
    var jitter: Double = 0.2
    /// The wait after a relay's answer was lost.
    var firstWithoutAnswer: Int64 = 1_000

    /// The wait before the next attempt, in milliseconds.
    ///
    /// - Parameters:
    ///   - attempts: How many attempts there have been; at least 1.
    ///   - least: What FCM asked for, if it did.
    ///   - remaining: How long there is any use in an attempt. What FCM asks for is not exceeded where only that is within it.
    ///   - random: Any number from 0 to 1.
    func delay(after attempts: Int, least: Int64?, within remaining: Int64, random: Double) -> Int64 {
        let doublings = min(max(attempts, 1) - 1, 30)
        let plain = min(longest, first << doublings)
        let jittered = jittered(plain, random: random)
        guard let least, jittered < least else { return jittered }
        // A relay may ask for any number.
        guard least < remaining else { return least }
        let more = Int64(Double(least) * jitter * random)
        return more < remaining - least ? least + more : least
    }

    /// The wait after a relay's answer was lost, in milliseconds and without jitter.
    ///
    /// - Parameter last: The wait after the attempt before, if that one's answer was lost as well.
    func waitWithoutAnswer(after last: Int64?) -> Int64 {
        min(longest, max(firstWithoutAnswer, min(last ?? 0, longest) * 2))
    }

    /// A wait, a fifth more or less.
    func jittered(_ wait: Int64, random: Double) -> Int64 {
        Int64(Double(wait) * (1 - jitter + 2 * jitter * random))
    }
}
