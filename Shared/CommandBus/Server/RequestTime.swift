import Schemas
import Time

/// The time until which a request may be begun, on this process's own clock.
struct RequestTime: Sendable {
    /// When its client stops waiting; `.max` if that is unknown.
    let expiry: MonotonicMilliseconds
    private let pausesBefore: Int
    private let watch: PauseWatch

    /// - Parameter arrival: When the request was read.
    init(_ header: RequestHeader, arrival: RequestArrival, watch: PauseWatch) {
        let now = arrival.moment
        if let timeout = header.timeout {
            expiry = now.monotonic + min(max(timeout, 0), .year)
        } else if let deadline = header.deadline {
            // A later step of the wall clock changes nothing.
            expiry =
                deadline <= now.wall
                ? now.monotonic : now.monotonic + min(deadline - now.wall, .year)
        } else {
            expiry = .max
        }
        pausesBefore = arrival.pauses
        self.watch = watch
    }

    /// Why the request must not be begun; `nil` if it may.
    func refusal(now: MonotonicMilliseconds) -> (reason: RefusedRequests.Reason, failure: CommandFailure)? {
        if expiry <= now {
            return (.deadlineExceeded, CommandFailure(.deadlineExceeded, "the deadline passed before the work began"))
        }
        if watch.hasPaused(since: pausesBefore, now: now) { return (.paused, .afterPause) }
        return nil
    }
}

/// When a request was read.
struct RequestArrival: Sendable {
    let moment: ClockReading
    /// The number of pauses of the process until then; see ``PauseWatch``.
    let pauses: Int
}

extension CommandFailure {
    /// The failure of a request that waited during a pause of the process.
    static let afterPause = CommandFailure(
        .unavailable, "the service did not run for a while, and the request may be older than it seems; not done")
}
