import Schemas

/// A point in time on both clocks. The bus uses the monotonic one for timers and the wall clock for headers.
struct BusMoment: Sendable {
    let monotonic: MonotonicMilliseconds
    let wall: UnixMilliseconds

    /// The current time.
    static var now: BusMoment { BusMoment(monotonic: .now(), wall: .now) }
}
