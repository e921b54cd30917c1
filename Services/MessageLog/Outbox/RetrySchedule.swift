import Base

/// When a component that FCM did not accept is retried: after 10 s, then twice as long each time, up to 10 minutes, with a jitter
/// of a fifth (FCM's advice: exponential, jittered, at least 10 s before the first retry). If FCM asks for a longer wait, that
/// wait is used, plus up to a fifth.
struct RetrySchedule: Sendable {
    /// The maximum number of attempts that count if the relay has not asked FCM. So the wait stays that of the second attempt:
    /// short enough to continue soon after an outage, and long enough for a growing outbox.
    static let maxCountedWithoutFCM = 2

    /// The waits after attempts that FCM has answered.
    var answered = Backoff(first: .seconds(10), max: .seconds(600), jitter: 0.8...1.2)
    /// The waits after attempts whose answer was lost.
    var unanswered = Backoff(first: .seconds(1), max: .seconds(600), jitter: 0.8...1.2)

    /// The maximum excess over a wait that FCM asked for, as a fraction of it.
    private static let maxExcess = 0.2

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts so far; at least 1.
    ///   - asked: The wait that FCM asked for, if any.
    ///   - remaining: The time until the expiry. If FCM's wait fits into it only without jitter, there is no jitter.
    ///   - random: A number from 0 to 1.
    func delay(after attempts: Int, asked: Milliseconds?, within remaining: Milliseconds, random: Double) -> Milliseconds {
        let jittered = Milliseconds(answered.jittered(answered.pause(after: attempts), random: random))
        guard let asked, jittered < asked else { return jittered }
        // A relay may ask for any number.
        guard asked < remaining else { return asked }
        let excess = Milliseconds(rawValue: Int64(Double(asked.rawValue) * Self.maxExcess * random))
        return excess < remaining - asked ? asked + excess : asked
    }

    /// The wait after a relay's answer was lost, without jitter: twice the last one.
    ///
    /// - Parameter last: The wait after the previous attempt, if its answer was lost as well.
    func waitWithoutAnswer(after last: Milliseconds?) -> Milliseconds {
        Milliseconds(unanswered.pause(following: last.map { Duration($0) }))
    }

    /// Adds a jitter of up to a fifth, up or down, to a wait after a lost answer.
    func jittered(_ wait: Milliseconds, random: Double) -> Milliseconds {
        Milliseconds(unanswered.jittered(Duration(wait), random: random))
    }
}
