import Base
import Schemas

@testable import MessageLog

/// Turns with one attempt by FCM alone.
extension DeliveryRecord {
    /// A relay has answered.
    mutating func answered(
        _ results: [PartResult], to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds, schedule: RetrySchedule,
        random: Double
    ) {
        attempted(
            [AttemptOutcome(.fcm, .answered(results))], by: owner, at: now, expires: expires, schedule: schedule, random: random)
    }

    /// No relay has taken it.
    mutating func unreachable(
        _ error: DeliveryError, to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds
    ) {
        attempted(
            [AttemptOutcome(.fcm, .unreachable(error))], by: owner, at: now, expires: expires, schedule: RetrySchedule(),
            random: 0.5)
    }

    /// A relay's answer was lost.
    mutating func unanswered(
        _ reason: String, to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds, schedule: RetrySchedule,
        random: Double
    ) {
        attempted(
            [AttemptOutcome(.fcm, .unanswered(reason))], by: owner, at: now, expires: expires, schedule: schedule, random: random)
    }
}
