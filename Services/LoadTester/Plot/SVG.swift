/// The SVG elements of a plot.
enum SVG {
    enum Anchor: String {
        case start, middle, end
    }

    static func text(_ text: String, x: Double, y: Double, _ classes: String, anchor: Anchor = .start) -> String {
        let anchor = anchor == .start ? "" : #" text-anchor="\#(anchor.rawValue)""#
        return #"<text class="\#(classes)" x="\#(number(x))" y="\#(number(y))"\#(anchor)>\#(escaped(text))</text>"#
    }

    static func line(x1: Double, y1: Double, x2: Double, y2: Double, _ classes: String) -> String {
        #"<line class="\#(classes)" x1="\#(number(x1))" y1="\#(number(y1))" x2="\#(number(x2))" y2="\#(number(y2))"/>"#
    }

    static func polyline(_ points: [(x: Double, y: Double)], _ classes: String) -> String {
        #"<polyline class="\#(classes)" points="\#(list(points))"/>"#
    }

    /// The area between a line and the height `bottom`.
    static func area(_ points: [(x: Double, y: Double)], bottom: Double, _ classes: String) -> String {
        guard let first = points.first, let last = points.last else { return "" }
        return #"<polygon class="\#(classes)" points="\#(list([(first.x, bottom)] + points + [(last.x, bottom)]))"/>"#
    }

    static func dot(x: Double, y: Double, _ classes: String) -> String {
        #"<circle class="\#(classes)" cx="\#(number(x))" cy="\#(number(y))" r="3.5"/>"#
    }

    static func card(x: Double, y: Double, width: Double, height: Double) -> String {
        #"<rect class="fill-panel draw-line" x="\#(number(x))" y="\#(number(y))" width="\#(number(width))" "#
            + #"height="\#(number(height))" rx="10"/>"#
    }

    private static func list(_ points: [(x: Double, y: Double)]) -> String {
        points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    }

    /// Rounds to a tenth of a pixel.
    private static func number(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
