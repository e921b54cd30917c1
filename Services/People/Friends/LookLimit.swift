import Base
import Schemas
import Synchronization

/// Limits how many persons one person may look for: searches, views of strangers, and requests and blocks of strangers count together,
/// whether somebody is found or not. Pure: the caller passes the time.
struct LookLimit: Sendable {
    private var minute = WindowCounts<String>(.seconds(60), max: PersonLimits.searchesPerMinute)
    private var day = WindowCounts<String>(.seconds(86_400), max: PersonLimits.searchesPerDay)

    /// Counts a look, unless it has to wait.
    ///
    /// - Parameter account: The name in lower case.
    /// - Returns: How long it has to wait; `nil` if it need not.
    mutating func look(by account: String, now: ContinuousClock.Instant) -> Duration? {
        let wait = max(minute.wait(of: account, now: now), day.wait(of: account, now: now))
        guard wait <= .zero else { return wait }
        minute.count(account, now: now)
        day.count(account, now: now)
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
