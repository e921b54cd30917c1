import Schemas

/// When a component that FCM did not accept is retried: after 10 s, then twice as long each time, up to 10 minutes, with a jitter
/// of a fifth (FCM's advice: exponential, jittered, at least 10 s before the first retry). If FCM asks for a longer wait, that
/// wait is used, plus up to a fifth.
struct RetrySchedule: Sendable {
    /// The maximum number of attempts that count if the relay has not asked FCM. So the wait stays that of the second attempt:
    /// short enough to continue soon after an outage, and long enough for a growing outbox.
    static let maxCountedWithoutFCM = 2

    var first: Int64 = 10_000
    var longest: Int64 = 600_000
    var jitter: Double = 0.2
    /// The wait after a relay's answer was lost.
    var firstWithoutAnswer: Int64 = 1_000

    /// The wait before the next attempt, in milliseconds.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts so far; at least 1.
    ///   - least: The wait that FCM asked for, if any.
    ///   - remaining: The time until the expiry. If FCM's wait fits into it only without jitter, there is no jitter.
    ///   - random: A number from 0 to 1.
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
    /// - Parameter last: The wait after the previous attempt, if its answer was lost as well.
    func waitWithoutAnswer(after last: Int64?) -> Int64 {
        min(longest, max(firstWithoutAnswer, min(last ?? 0, longest) * 2))
    }

    /// Adds a jitter of up to a fifth, up or down.
    func jittered(_ wait: Int64, random: Double) -> Int64 {
        Int64(Double(wait) * (1 - jitter + 2 * jitter * random))
    }
}
