import Base
import Schemas
import Synchronization

/// Limits how often a device polls. Each instance of the service counts for itself, in memory.
final class PollLimits: Sendable {
    /// What a device polls for.
    enum Kind: Hashable, Sendable {
        case messages, statuses
    }

    private struct Polls {
        private struct Place: Hashable {
            let device: ObjectID
            let kind: Kind
        }

        private static let minPlaces = 1_000
        private var last: [Place: UnixMilliseconds] = [:]
        /// With so many, those that do not count any more are dropped.
        private var maxPlaces = minPlaces

        /// Counts a poll, unless it has to wait.
        ///
        /// - Returns: How long it has to wait; `nil` if it need not.
        mutating func poll(
            _ device: ObjectID, _ kind: Kind, every period: Milliseconds, at now: UnixMilliseconds
        ) -> Milliseconds? {
            let place = Place(device: device, kind: kind)
            // By a clock that was set back, the last poll is in the future. It does not count.
            if let last = last[place], last <= now, now < last + period { return last + period - now }
            last[place] = now
            if last.count > maxPlaces {
                last = last.filter { now < $0.value + period }
                maxPlaces = max(Self.minPlaces, 2 * last.count)
            }
            return nil
        }
    }

    private struct Follow: Hashable {
        let device: ObjectID
        let message: ObjectID
    }

    /// A device may follow the same event or push again after this time.
    private static let followPeriod = Duration.seconds(3_600)

    private let now: @Sendable () -> UnixMilliseconds
    private let polls = Mutex(Polls())
    private let follows = Mutex(WindowCounts<Follow>(followPeriod, max: MessagingLimits.fetchesPerPrompt))

    /// - Parameter now: The clock of the service.
    init(now: @escaping @Sendable () -> UnixMilliseconds) {
        self.now = now
    }

    /// Counts a poll.
    ///
    /// - Throws: ``CommandFailure`` with `overloaded` if the last poll of the device for the same was too short a time ago. Then
    ///   it does not count.
    func poll(_ device: ObjectID, _ kind: Kind, every period: Seconds) throws(CommandFailure) {
        let now = now()
        guard let wait = polls.withLock({ $0.poll(device, kind, every: Milliseconds(period), at: now) }) else { return }
        throw CommandFailure(
            .overloaded, "a device may ask every \(period) seconds, and after each event or push; try again later",
            retryAfter: max(1, wait))
    }

    /// Counts a fetch because of an event or a push about a message that has found nothing new.
    ///
    /// - Returns: Whether it may go; otherwise it is a poll.
    func follow(_ message: ObjectID, on device: ObjectID) -> Bool {
        let follow = Follow(device: device, message: message)
        return follows.withLock { follows in
            guard follows.wait(of: follow, now: .now) <= .zero else { return false }
            follows.count(follow, now: .now)
            return true
        }
    }
}
