/// The latencies of each second of the ramp, by the rate that was requested in it. Where the target can no longer keep up, they
/// rise steeply.
struct RatePanel {
    let points: [PlotFigures.RatePoint]

    func elements(in frame: PlotFrame) -> [String] {
        let latencies = points.flatMap { [$0.median, $0.p99] }
        let latency = AxisScale.fitting(latencies.min() ?? 0, latencies.max() ?? 1)
        let rates = AxisScale.linear(to: points.map(\.rate).max() ?? 1)
        var elements = frame.grid(latency, labels: "fill-accent", Quantity.latency)
        for tick in rates.ticks { elements += frame.tick("\(Quantity.number(tick))/s", at: rates.share(of: tick)) }
        func line(_ value: KeyPath<PlotFigures.RatePoint, Double>) -> [(x: Double, y: Double)] {
            points.map { (frame.x(rates.share(of: $0.rate)), frame.y(latency.share(of: $0[keyPath: value]))) }
        }
        elements.append(SVG.polyline(line(\.median), "faint draw-accent"))
        elements.append(SVG.polyline(line(\.p99), "thick draw-accent"))
        return elements + frame.legend(PlotFrame.latencyLegend)
    }
}
