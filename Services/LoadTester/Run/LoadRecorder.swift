import Histogram
import Synchronization

/// Collects the outcomes of messages from concurrent tasks.
final class LoadRecorder: Sendable {
    /// One second of a run.
    struct Interval: Encodable, Sendable {
        /// Seconds from the beginning to the interval's end.
        let time: Double
        /// Messages that were answered in it.
        let answered: Int
        let failed: Int
        /// Milliseconds; 0 without a message.
        let median: Double
        let p99: Double
        let longest: Double
    }

    /// The counts of a whole run.
    struct Totals: Sendable {
        var latencies = LoadRecorder.histogram()
        var sent = 0
        var accepted = 0
        var failed = 0
        /// The time of the last answer, in seconds from the beginning.
        var lastAnswer = 0.0
        /// How often each class of error occurred; a message may have several.
        var errors: [String: Int] = [:]
        /// The maximum delay of a send by the tester itself, in seconds.
        var maxDelay = 0.0
        var intervals: [Interval] = []
    }

    private struct State {
        var totals = Totals()
        var interval = LoadRecorder.histogram()
        var answered = 0
        var failed = 0
    }

    private let state = Mutex(State())

    /// A histogram of microseconds up to an hour, with three significant digits.
    static func histogram() -> Histogram<UInt64> {
        Histogram(highestTrackableValue: 3_600_000_000, numberOfSignificantValueDigits: .three)
    }

    var totals: Totals { state.withLock(\.totals) }

    /// - Parameter delay: How long after its due time it is sent, in seconds.
    func began(delay: Double) {
        state.withLock { state in
            state.totals.sent += 1
            state.totals.maxDelay = max(state.totals.maxDelay, delay)
        }
    }

    /// - Parameters:
    ///   - latency: The time from the message's due time to its answer, in seconds.
    ///   - time: The time of the answer, in seconds from the beginning.
    ///   - counts: Whether the latency is recorded: `false` during the ramp.
    func ended(_ errors: [String]?, latency: Double, at time: Double, counts: Bool) {
        let microseconds = UInt64(min(max(latency * 1_000_000, 0), 3_600_000_000))
        state.withLock { state in
            state.answered += 1
            state.totals.lastAnswer = max(state.totals.lastAnswer, time)
            state.interval.record(microseconds)
            if counts { state.totals.latencies.record(microseconds) }
            guard let errors else {
                state.totals.accepted += 1
                return
            }
            state.failed += 1
            state.totals.failed += 1
            for error in errors { state.totals.errors[error, default: 0] += 1 }
        }
    }

    /// Ends an interval.
    ///
    /// - Parameter time: Seconds from the beginning.
    func endInterval(at time: Double) -> Interval {
        state.withLock { state in
            func milliseconds(_ percentile: Double) -> Double {
                state.answered == 0 ? 0 : Double(state.interval.valueAtPercentile(percentile)) / 1_000
            }
            let interval = Interval(
                time: time, answered: state.answered, failed: state.failed, median: milliseconds(50), p99: milliseconds(99),
                longest: milliseconds(100))
            state.totals.intervals.append(interval)
            state.interval.reset()
            state.answered = 0
            state.failed = 0
            return interval
        }
    }
}
