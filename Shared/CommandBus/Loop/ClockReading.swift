import Schemas

/// A point in time on both clocks. The bus uses the monotonic one for timers and the wall clock for headers.
struct ClockReading: Sendable {
    let monotonic: MonotonicMilliseconds
    let wall: UnixMilliseconds

    /// The current time.
    static var now: ClockReading { ClockReading(monotonic: .now(), wall: .now) }
}
