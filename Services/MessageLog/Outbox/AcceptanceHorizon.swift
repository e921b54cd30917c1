import Schemas
import Time

/// How far a reader of accepted messages may go on: to the last stored place, as it was ``margin`` ago. Whatever is stored from now on
/// has a later place. Pure.
///
/// The system clock does not count: the last place may be far behind it, or ahead of it. While nothing is accepted, all readers have
/// the same cursor, so their requests have the same answer.
struct AcceptanceHorizon: Sendable {
    /// How long a message may take from its place to its storing.
    static let margin: Milliseconds = 60_000
    /// The time between two samples. All readers have the same cursor meanwhile.
    private static let step = Duration.seconds(10)

    /// The last stored place at different moments: the last sample that is old enough, and the younger ones.
    private var samples: [(place: UnixMilliseconds, at: ContinuousClock.Instant)] = []

    /// - Parameter last: The last stored place.
    mutating func note(_ last: UnixMilliseconds, at instant: ContinuousClock.Instant) {
        // At the start nothing is known about earlier moments but the places themselves.
        if samples.isEmpty { samples.append((last - Self.margin, instant - Duration(Self.margin))) }
        guard let newest = samples.last, instant - newest.at >= Self.step else { return }
        samples.append((last, instant))
        while samples.count > 1, isOld(samples[1].at, at: instant) { samples.removeFirst() }
    }

    func place(at instant: ContinuousClock.Instant) -> UnixMilliseconds {
        samples.last { isOld($0.at, at: instant) }?.place ?? 0
    }

    private func isOld(_ sample: ContinuousClock.Instant, at instant: ContinuousClock.Instant) -> Bool {
        instant - sample >= Duration(Self.margin)
    }
}
