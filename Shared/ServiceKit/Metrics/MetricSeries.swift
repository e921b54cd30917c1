import CoreMetrics
import Synchronization

/// The values of one metric with one set of labels. It takes the values of swift-metrics.
final class CounterSeries: CounterHandler, FloatingPointCounterHandler {
    private let value = Mutex(0.0)

    func increment(by amount: Int64) { value.withLock { $0 += Double(max(amount, 0)) } }

    func increment(by amount: Double) { value.withLock { $0 += max(amount, 0) } }

    func reset() { value.withLock { $0 = 0 } }

    /// Sets a count that the system keeps.
    func set(_ count: Double) { value.withLock { $0 = count } }

    var count: Double { value.withLock { $0 } }
}

final class GaugeSeries: MeterHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { self.value.withLock { $0 = value } }

    func increment(by amount: Double) { value.withLock { $0 += amount } }

    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    var current: Double { value.withLock { $0 } }
}

final class HistogramSeries: RecorderHandler, TimerHandler {
    struct Contents {
        /// The number of values in each bucket, not cumulated; the last one is for values above all bounds.
        var counts: [Int]
        var sum = 0.0
    }

    let bounds: [Double]
    private let contents: Mutex<Contents>

    init(bounds: [Double]) {
        self.bounds = bounds
        contents = Mutex(Contents(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(max(duration, 0)) / 1e9) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        contents.withLock {
            $0.counts[bucket] += 1
            $0.sum += value
        }
    }

    var recorded: Contents { contents.withLock { $0 } }
}
