import Base
import Schemas
import Synchronization

/// Limits how many persons one person may look for: searches, views of strangers, and requests and blocks of strangers count together,
/// whether somebody is found or not. Pure: the caller passes the time.
struct LookLimit: Sendable {
    /// A window begins with the first look after the one before has ended, for all persons at once. So its counts are forgotten together.
    private struct Window: Sendable {
        let length: Duration
        let max: Int
        private var end: ContinuousClock.Instant?
        private var counts: [String: Int] = [:]

        init(_ length: Duration, max: Int) {
            self.length = length
            self.max = max
        }

        /// How long a further look has to wait.
        mutating func wait(of account: String, now: ContinuousClock.Instant) -> Duration {
            if end.map({ $0 <= now }) ?? true { (end, counts) = (now + length, [:]) }
            guard counts[account, default: 0] >= max, let end else { return .zero }
            return now.duration(to: end)
        }

        mutating func count(_ account: String) { counts[account, default: 0] += 1 }
    }

    private var minute = Window(.seconds(60), max: PersonLimits.searchesPerMinute)
    private var day = Window(.seconds(86_400), max: PersonLimits.searchesPerDay)

    /// Counts a look, unless it has to wait.
    ///
    /// - Parameter account: The name in lower case.
    /// - Returns: How long it has to wait; `nil` if it need not.
    mutating func look(by account: String, now: ContinuousClock.Instant) -> Duration? {
        let wait = max(minute.wait(of: account, now: now), day.wait(of: account, now: now))
        guard wait <= .zero else { return wait }
        minute.count(account)
        day.count(account)
        return nil
    }
}

/// The limit of this process.
final class LookCounts: Sendable {
    private let limit = Mutex(LookLimit())

    /// Counts a look.
    ///
    /// - Throws: ``CommandFailure`` with `overloaded`.
    func look(by account: String) throws(CommandFailure) {
        guard let wait = limit.withLock({ $0.look(by: account, now: .now) }) else { return }
        throw CommandFailure(
            .overloaded, "you have looked for too many persons; try again later", retryAfter: Milliseconds(wait))
    }
}
