import CoreMetrics
import Instruments
import Synchronization

/// The metrics of the process: swift-metrics hands every value to it, and Prometheus reads them in its text format.
///
/// No package for that is available: swift-metrics has the interface only.
final class MetricRegistry: MetricsFactory {
    /// A metric's labels with their values, in the order in which they were given.
    typealias Labels = [(name: String, value: String)]

    enum Series: Sendable {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }

    struct Family: Sendable {
        let instrument: Instrument
        var series: [String: (labels: Labels, series: Series)] = [:]
    }

    /// The maximum number of series of one metric. Further sets of labels are counted as `other`, so that a defect that makes labels from
    /// data cannot fill the memory. The label `status` is kept, since alerts need it.
    static let maxSeries = 2_000

    private let families = Mutex<[String: Family]>([:])
    private let declared = Dictionary(uniqueKeysWithValues: Instrument.all.map { ($0.name, $0) })

    /// The families in the order of their declaration, those of libraries last.
    var all: [Family] {
        let families = families.withLock { $0 }
        let known = Instrument.all.compactMap { families[$0.name] }
        return known
            + families.values.filter { declared[$0.instrument.name] == nil }.sorted { $0.instrument.name < $1.instrument.name }
    }

    /// The counter, to set a count that the system keeps.
    func counter(_ instrument: Instrument, _ labels: Labels = []) -> CounterSeries {
        guard case .counter(let series) = series(instrument.name, labels, .counter) else { return CounterSeries() }
        return series
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard case .counter(let series) = series(label, dimensions, .counter) else { return CounterSeries() }
        return series
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        guard case .counter(let series) = series(label, dimensions, .counter) else { return CounterSeries() }
        return series
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        guard case .gauge(let series) = series(label, dimensions, .gauge) else { return GaugeSeries() }
        return series
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        histogram(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    // Series live as long as the process: a counter that disappears looks like one that was reset.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        let kind = Instrument.Kind.histogram(buckets: Instrument.durations)
        guard case .histogram(let series) = series(label, dimensions, kind) else { return HistogramSeries(bounds: []) }
        return series
    }

    /// - Parameter kind: For a metric that is not declared.
    private func series(_ label: String, _ labels: Labels, _ kind: Instrument.Kind) -> Series {
        let instrument = declared[label] ?? Instrument(Self.name(from: label), "A metric of a library.", kind)
        return families.withLock { families in
            var family = families[instrument.name] ?? Family(instrument: instrument)
            var labels = labels
            if family.series[Self.key(labels)] == nil, family.series.count >= Self.maxSeries {
                labels = labels.map { $0.name == "status" ? $0 : ($0.name, "other") }
            }
            let key = Self.key(labels)
            if let known = family.series[key] { return known.series }
            let made: Series =
                switch instrument.kind {
                case .counter: .counter(CounterSeries())
                case .gauge: .gauge(GaugeSeries())
                case .histogram(let bounds): .histogram(HistogramSeries(bounds: bounds))
                }
            family.series[key] = (labels, made)
            families[instrument.name] = family
            return made
        }
    }

    private static func key(_ labels: Labels) -> String {
        labels.map { "\($0.name)\u{1}\($0.value)" }.joined(separator: "\u{2}")
    }

    /// A name in Prometheus's form.
    private static func name(from label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }
}

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
