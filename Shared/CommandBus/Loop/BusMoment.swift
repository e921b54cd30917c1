import Schemas

/// A moment on both clocks: by the one the bus waits, the other is written into headers.
struct BusMoment: Sendable {
    let monotonic: MonotonicMilliseconds
    let wall: UnixMilliseconds

    /// This moment.
    static var now: BusMoment { BusMoment(monotonic: .now(), wall: .now) }
}
