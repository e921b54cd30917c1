/// A report as an SVG plot: the latency at each percentile, in the ramp at each rate, and throughput and latency over time. It is
/// drawn here because no available package draws plots.
struct LatencyPlot: CustomStringConvertible {
    let figures: PlotFigures

    private static let lineHeight = 22.0

    var description: String {
        let top = 192.0 + (figures.remarks.isEmpty ? 0 : Double(figures.remarks.count) * Self.lineHeight + 8)
        let distribution = PlotFrame(top: top, name: "Latency by percentile")
        let rates = PlotFrame(top: distribution.bottom + PlotFrame.margin, name: "Latency by requested rate")
        let time = PlotFrame(top: (figures.rates.isEmpty ? distribution : rates).bottom + PlotFrame.margin, name: "Over time")
        let height = Int(time.bottom + PlotFrame.margin)
        let elements =
            heading + tiles(top: 96) + DistributionPanel(points: figures.distribution).elements(in: distribution)
            + (figures.rates.isEmpty ? [] : RatePanel(points: figures.rates).elements(in: rates))
            + TimePanel(seconds: figures.seconds, target: figures.target).elements(in: time)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(PlotFrame.width)) \(height)" width="\(Int(PlotFrame.width))" \
            height="\(height)" role="img">
            <title>\(figures.title)</title>
            \(PlotStyle.element)
            <rect class="fill-ground" width="100%" height="100%"/>
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    private var heading: [String] {
        var lines = [
            SVG.text(figures.title, x: PlotFrame.margin, y: 46, "heading fill-ink"),
            SVG.text(figures.subtitle, x: PlotFrame.margin, y: 72, "text fill-ink-2"),
        ]
        for (number, remark) in figures.remarks.enumerated() {
            lines.append(SVG.text(remark, x: PlotFrame.margin, y: 198 + Double(number) * Self.lineHeight, "text fill-ink"))
        }
        return lines
    }

    private func tiles(top: Double) -> [String] {
        // The first is wider: it has a hint.
        let width = (PlotFrame.width - 2 * PlotFrame.margin) / (Double(figures.tiles.count) + 0.5)
        var x = PlotFrame.margin
        var elements = [
            SVG.card(x: PlotFrame.margin, y: top, width: PlotFrame.width - 2 * PlotFrame.margin, height: 72)
        ]
        for (number, tile) in figures.tiles.enumerated() {
            let width = number == 0 ? 1.5 * width : width
            if number > 0 { elements.append(SVG.line(x1: x, y1: top + 16, x2: x, y2: top + 56, "draw-line")) }
            elements.append(SVG.text(tile.name, x: x + 16, y: top + 28, "fill-ink-2"))
            elements.append(SVG.text(tile.value, x: x + 16, y: top + 54, "value fill-ink"))
            if !tile.hint.isEmpty {
                elements.append(SVG.text(tile.hint, x: x + width - 16, y: top + 54, "fill-ink-3", anchor: .end))
            }
            x += width
        }
        return elements
    }
}
