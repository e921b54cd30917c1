import Glibc

/// The latency at each percentile. Every further nine of the percentile has the same width, so that the slowest messages are as
/// readable as the median.
struct DistributionPanel {
    let points: [PlotFigures.Point]

    /// The labelled percentiles and their positions.
    private static let named: [(name: String, nines: Double)] = [
        ("p50", -log10(0.5)), ("p90", 1), ("p99", 2), ("p99.9", 3), ("p99.99", 4), ("p99.999", 5),
    ]

    func elements(in frame: PlotFrame) -> [String] {
        // Latencies below the median are not of interest.
        let slower = points.filter { $0.nines >= 0.3 }.map(\.latency)
        let axis = AxisScale.fitting(slower.min() ?? 0, slower.max() ?? 1)
        var elements = frame.grid(axis, labels: "fill-ink-3", Quantity.latency)
        guard let end = points.last?.nines, end > 0 else {
            let text = "No message was answered."
            return elements + [SVG.text(text, x: frame.x(0.5), y: frame.y(0.5), "text fill-ink-2", anchor: .middle)]
        }
        func place(_ point: PlotFigures.Point) -> (x: Double, y: Double) {
            (frame.x(point.nines / end), frame.y(axis.share(of: point.latency)))
        }
        let line = points.map(place)
        if !axis.isLogarithmic { elements.append(SVG.area(line, bottom: frame.lower, "fill-accent-soft")) }
        elements.append(SVG.polyline(line, "thick draw-accent"))
        for (name, nines) in Self.named where nines <= end + 0.001 {
            elements += frame.tick(name, at: nines / end)
            guard let point = points.min(by: { abs($0.nines - nines) < abs($1.nines - nines) }) else { continue }
            let (x, y) = place(point)
            elements.append(SVG.dot(x: x, y: y, "thick fill-panel draw-accent"))
            // The label must not cover the line, which rises steeply beside the median and ends at the last percentile.
            let isBeside = nines < 1 || nines >= end - 0.001
            elements.append(
                SVG.text(
                    Quantity.latency(milliseconds: point.latency), x: isBeside ? x + 4 : x, y: y - 10,
                    "label halo fill-accent draw-panel", anchor: isBeside ? .end : .middle))
        }
        return elements
    }
}

/// Throughput and latency over time: two axes, each in the colour of its lines.
struct TimePanel {
    let seconds: [PlotFigures.Second]
    let target: Double?

    private static let maxPoints = 240

    func elements(in frame: PlotFrame) -> [String] {
        let seconds = condensed
        let rates = seconds.map(Self.rate)
        let answers = AxisScale.linear(to: max(rates.max() ?? 0, (target ?? 0) * 1.05, 1))
        let latencies = seconds.flatMap { [$0.median, $0.p99] }.filter { $0 > 0 }
        let latency = AxisScale.fitting(latencies.min() ?? 0, latencies.max() ?? 1)
        let end = max(seconds.last?.end ?? 1, 0.001)

        var elements = frame.grid(answers, labels: "fill-good") { Quantity.number($0) }
        elements += frame.rightLabels(latency, labels: "fill-accent", Quantity.latency)
        for tick in Self.times(to: end) { elements += frame.tick(Quantity.time(seconds: tick, upTo: end), at: tick / end) }

        func x(_ second: PlotFigures.Second) -> Double { frame.x((second.begin + second.end) / 2 / end) }
        func steps(_ value: (PlotFigures.Second) -> Double) -> [(x: Double, y: Double)] {
            seconds.flatMap { second in
                let y = frame.y(answers.share(of: value(second)))
                return [(frame.x(second.begin / end), y), (frame.x(second.end / end), y)]
            }
        }
        func line(_ value: KeyPath<PlotFigures.Second, Double>) -> [(x: Double, y: Double)] {
            seconds.filter { $0.answered > 0 }.map { (x($0), frame.y(latency.share(of: $0[keyPath: value]))) }
        }
        let answered = steps(Self.rate)
        elements.append(SVG.area(answered, bottom: frame.lower, "fill-good-soft"))
        if seconds.contains(where: { $0.failed > 0 }) {
            let failed = steps { Double($0.failed) / max($0.end - $0.begin, 0.001) }
            elements.append(SVG.area(failed, bottom: frame.lower, "fill-bad-soft"))
            elements.append(SVG.polyline(failed, "thick draw-bad"))
        }
        elements.append(SVG.polyline(answered, "thick draw-good"))
        if let target {
            let y = frame.y(answers.share(of: target))
            elements.append(SVG.line(x1: frame.left, y1: y, x2: frame.right, y2: y, "dashed draw-ink-3"))
        }
        elements.append(SVG.polyline(line(\.median), "faint draw-accent"))
        elements.append(SVG.polyline(line(\.p99), "thick draw-accent"))
        return elements + legend(in: frame)
    }

    private func legend(in frame: PlotFrame) -> [String] {
        var items = PlotFrame.latencyLegend
        if let target { items.append(("target \(Quantity.number(target))/s", "dashed draw-ink-3", "fill-ink-2", 98)) }
        if seconds.contains(where: { $0.failed > 0 }) { items.append(("failed per second", "thick draw-bad", "fill-bad", 108)) }
        items.append(("answered per second", "thick draw-good", "fill-good", 136))
        return frame.legend(items)
    }

    private static func rate(_ second: PlotFigures.Second) -> Double {
        Double(second.answered) / max(second.end - second.begin, 0.001)
    }

    /// About eight round times.
    private static func times(to end: Double) -> [Double] {
        let steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600]
        // From two hours on the ticks are in hours, without quarters.
        let step = steps.first { end / $0 <= 9 && (end < 7_200 || $0 >= 1_800) } ?? 43_200
        return stride(from: 0, through: end, by: step).map(\.self)
    }

    /// One point a second. In a long load a point covers several seconds, with their mean rate and their maximum latency.
    private var condensed: [PlotFigures.Second] {
        let size = (seconds.count + Self.maxPoints - 1) / Self.maxPoints
        guard size > 1 else { return seconds }
        return stride(from: 0, to: seconds.count, by: size).map { start in
            let part = seconds[start..<min(start + size, seconds.count)]
            return PlotFigures.Second(
                begin: part.first?.begin ?? 0, end: part.last?.end ?? 0, answered: part.reduce(0) { $0 + $1.answered },
                failed: part.reduce(0) { $0 + $1.failed }, median: part.map(\.median).max() ?? 0, p99: part.map(\.p99).max() ?? 0)
        }
    }
}

/// A panel of a plot: a card with a name, and the area for the lines in it.
struct PlotFrame: Sendable {
    static let width = 960.0
    static let margin = 24.0
    private static let height = 300.0

    /// The card's upper edge.
    let top: Double
    let name: String

    // The area for the lines.
    var left: Double { 92 }
    var right: Double { Self.width - 92 }
    var upper: Double { top + 64 }
    var lower: Double { top + Self.height - 44 }
    /// The card's lower edge.
    var bottom: Double { top + Self.height }

    func x(_ share: Double) -> Double { left + (right - left) * share }
    func y(_ share: Double) -> Double { lower - (lower - upper) * share }

    /// The card, its name, and a line at each tick of the left axis.
    func grid(_ axis: AxisScale, labels: String, _ text: (Double) -> String) -> [String] {
        var elements = [
            SVG.card(x: Self.margin, y: top, width: Self.width - 2 * Self.margin, height: Self.height),
            SVG.text(name, x: Self.margin + 16, y: top + 30, "name fill-ink"),
        ]
        for tick in axis.ticks {
            let y = y(axis.share(of: tick))
            elements.append(SVG.line(x1: left, y1: y, x2: right, y2: y, tick == axis.low ? "draw-line-strong" : "draw-line"))
            elements.append(SVG.text(text(tick), x: left - 10, y: y + 4, labels, anchor: .end))
        }
        return elements
    }

    func rightLabels(_ axis: AxisScale, labels: String, _ text: (Double) -> String) -> [String] {
        axis.ticks.map { SVG.text(text($0), x: right + 10, y: y(axis.share(of: $0)) + 4, labels) }
    }

    /// What a legend names: a text, the classes of its line and of the text, and the text's width.
    typealias LegendItem = (name: String, line: String, label: String, width: Double)

    static let latencyLegend: [LegendItem] = [
        ("p99", "thick draw-accent", "fill-accent", 26), ("p50", "faint draw-accent", "fill-accent", 26),
    ]

    /// The legend, drawn from right to left beside the panel's name.
    func legend(_ items: [LegendItem]) -> [String] {
        var right = Self.width - Self.margin - 16
        let y = top + 30
        return items.flatMap { name, line, label, width in
            let left = right - width
            defer { right = left - 48 }
            return [SVG.line(x1: left - 28, y1: y - 4, x2: left - 8, y2: y - 4, line), SVG.text(name, x: left, y: y, label)]
        }
    }

    /// A tick of the axis below.
    func tick(_ text: String, at share: Double) -> [String] {
        [
            SVG.line(x1: x(share), y1: lower, x2: x(share), y2: lower + 5, "draw-line-strong"),
            SVG.text(text, x: x(share), y: lower + 22, "fill-ink-3", anchor: .middle),
        ]
    }
}
