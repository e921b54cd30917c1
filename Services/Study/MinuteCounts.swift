import Base
import Schemas
import Synchronization

/// Counts what persons do within minutes of the service's clock, to limit it. Each instance of the service counts for itself.
final class MinuteCounts: Sendable {
    private static let period = Duration.seconds(60)

    private let now: @Sendable () -> UnixMilliseconds
    /// The same moment on both clocks.
    private let began: (wall: UnixMilliseconds, monotonic: ContinuousClock.Instant)
    private let counts = Mutex(WindowCounts<String>(MinuteCounts.period))

    /// - Parameter now: The clock of the service.
    init(now: @escaping @Sendable () -> UnixMilliseconds) {
        self.now = now
        began = (wall: now(), monotonic: .now)
    }

    /// Counts what a person wants to do.
    ///
    /// - Parameters:
    ///   - max: How often within a minute.
    ///   - what: What the person has done too often, such as `posted`.
    /// - Throws: ``CommandFailure`` with `overloaded` if it has to wait. Then it does not count.
    func count(_ account: AccountName, max: Int, _ what: String) throws(CommandFailure) {
        let moment = began.monotonic + Duration(now() - began.wall)
        let wait = counts.withLock { counts in
            let wait = counts.wait(of: account.key, max: max, now: moment)
            if wait <= .zero { counts.count(account.key, now: moment) }
            return wait
        }
        guard wait > .zero else { return }
        let milliseconds = Milliseconds(wait)
        throw CommandFailure(
            .overloaded, "you have \(what) \(max) times within a minute; try again later",
            retryAfter: milliseconds > 1 ? milliseconds : 1)
    }

    /// Takes back what was counted and then not done.
    func uncount(_ account: AccountName) { counts.withLock { $0.uncount(account.key) } }
}
