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

/// A plot's style: the product's colours and sizes, light or dark by the reader's system.
enum PlotStyle {
    /// A colour's light and dark value.
    private static let colours = [
        ("ground", "#f6f7f9", "#0f1216"), ("panel", "#ffffff", "#171b21"), ("line", "#e1e4e9", "#262c35"),
        ("line-strong", "#8a93a1", "#6b7686"), ("ink", "#14181f", "#e9edf3"), ("ink-2", "#4b5563", "#a9b3c1"),
        ("ink-3", "#69727f", "#8792a2"), ("accent", "#1f5fd6", "#7aa7ff"), ("accent-soft", "#e8effc", "#1a2740"),
        ("bad", "#b3261e", "#ff8a80"), ("bad-soft", "#fdecea", "#331716"), ("good", "#17693a", "#6dd58c"),
        ("good-soft", "#e6f4ea", "#12291b"),
    ]

    /// Two classes for each colour, for fill and for stroke. Many SVG viewers do not support CSS variables.
    static var element: String {
        func rules(_ value: ((String, String, String)) -> String) -> String {
            colours.map { ".fill-\($0.0){fill:\(value($0))}.draw-\($0.0){stroke:\(value($0))}" }.joined()
        }
        return """
            <style>
            text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;\
            font-size:13px;font-variant-numeric:tabular-nums}
            .heading{font-size:22px;font-weight:650;letter-spacing:-.015em}.text{font-size:15px}.value{font-size:18px;font-weight:600}
            .label{font-weight:600}.name{font-size:15px;font-weight:600}
            path,line,polyline,rect{fill:none;stroke-width:1;stroke-linejoin:round;stroke-linecap:round}
            .thick{stroke-width:2}.halo{stroke-width:4;paint-order:stroke}.dashed{stroke-dasharray:1 5;stroke-width:2}
            .faint{stroke-dasharray:5 4;stroke-width:1.5}
            \(rules { $0.1 })
            @media (prefers-color-scheme:dark){\(rules { $0.2 })}
            </style>
            """
    }
}
