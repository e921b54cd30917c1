import Instruments

/// Metrics in Prometheus's text format, version 0.0.4.
struct MetricText {
    private(set) var text = ""

    init(_ families: [MetricRegistry.Family]) {
        for family in families { append(family) }
    }

    private mutating func append(_ family: MetricRegistry.Family) {
        let name = family.instrument.name
        text += "# HELP \(name) \(family.instrument.help)\n# TYPE \(name) \(Self.type(of: family.instrument.kind))\n"
        for (_, (labels, series)) in family.series.sorted(by: { $0.key < $1.key }) {
            switch series {
            case .counter(let series): line(name, labels, series.count)
            case .gauge(let series): line(name, labels, series.current)
            case .histogram(let series): lines(name, labels, series)
            }
        }
    }

    private mutating func lines(_ name: String, _ labels: MetricRegistry.Labels, _ series: HistogramSeries) {
        let recorded = series.recorded
        var count = 0
        for (bound, values) in zip(series.bounds.map(Self.number) + ["+Inf"], recorded.counts) {
            count += values
            line(name + "_bucket", labels + [("le", bound)], Double(count))
        }
        line(name + "_sum", labels, recorded.sum)
        line(name + "_count", labels, Double(count))
    }

    private mutating func line(_ name: String, _ labels: MetricRegistry.Labels, _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    private static func type(of kind: Instrument.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n", "\r\n": text += "\\n"
            default: text.append(character)
            }
        }
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }
}
