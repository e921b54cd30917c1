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

    /// A tick of the axis below.
    func tick(_ text: String, at share: Double) -> [String] {
        [
            SVG.line(x1: x(share), y1: lower, x2: x(share), y2: lower + 5, "draw-line-strong"),
            SVG.text(text, x: x(share), y: lower + 22, "fill-ink-3", anchor: .middle),
        ]
    }
}
