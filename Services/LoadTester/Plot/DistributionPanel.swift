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
