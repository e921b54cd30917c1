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

    /// The legend, drawn from right to left beside the panel's name.
    private func legend(in frame: PlotFrame) -> [String] {
        var items = [("p99", "thick draw-accent", "fill-accent", 26.0), ("p50", "faint draw-accent", "fill-accent", 26)]
        if let target { items.append(("target \(Quantity.number(target))/s", "dashed draw-ink-3", "fill-ink-2", 98)) }
        if seconds.contains(where: { $0.failed > 0 }) { items.append(("failed per second", "thick draw-bad", "fill-bad", 108)) }
        items.append(("answered per second", "thick draw-good", "fill-good", 136))
        var right = PlotFrame.width - PlotFrame.margin - 16
        let y = frame.top + 30
        return items.flatMap { name, line, label, width in
            let left = right - width
            defer { right = left - 48 }
            return [SVG.line(x1: left - 28, y1: y - 4, x2: left - 8, y2: y - 4, line), SVG.text(name, x: left, y: y, label)]
        }
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
