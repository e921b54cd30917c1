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

    /// The maximum number of series of one metric. A further set of labels is counted as `other`, so that a fault that makes labels from
    /// data cannot fill the memory. The status stays: alerts need it.
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

    // Series live as long as the process: a counter that disappears looks like one that began anew.
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
