import Glibc

/// A report as a picture: the latency at each percentile, and how throughput and latency went over time. SVG, since none of
/// the packages at hand draws plots.
struct LatencyPlot: CustomStringConvertible {
    let report: LoadReport

    private static let width = 800.0
    private static let panel = (left: 70.0, width: 700.0, height: 240.0)

    var description: String {
        let title = "msi-load \(report.target): \(report.accepted) of \(report.sent) messages accepted"
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) 660" font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            <text x="\(Self.panel.left)" y="24" font-size="16">\(title)</text>
            \(distributionPanel(top: 50))
            \(timePanel(top: 370))
            </svg>

            """
    }

    /// Latency by percentile: each nine of the percentile takes up as much room as the one before.
    private func distributionPanel(top: Double) -> String {
        let points = report.distribution
        let most = max(points.map(\.latency).max() ?? 0, 0.001)
        func x(_ percentile: Double) -> Double {
            Self.panel.left + Self.panel.width * min(1, -log10(max(1 - percentile / 100, 0.000_01)) / 5)
        }
        let scale = Scale(most: most, top: top, height: Self.panel.height)
        let line = points.map { "\(Self.number(x($0.percentile))),\(Self.number(scale.y($0.latency)))" }
        let ticks = [0, 90, 99, 99.9, 99.99, 99.999].map { percentile in
            label("\(Self.number(percentile)) %", x: x(percentile), y: top + Self.panel.height + 18, anchor: "middle")
        }
        return frame(top, "latency in ms by percentile", scale) + polyline(line, "#1f5fa8") + ticks.joined(separator: "\n")
    }

    /// Messages answered, and their 99th percentile, second by second.
    private func timePanel(top: Double) -> String {
        let intervals = report.intervals
        let end = max(intervals.last?.time ?? 1, 0.001)
        func x(_ time: Double) -> Double { Self.panel.left + Self.panel.width * time / end }
        let answers = Scale(most: Double(intervals.map(\.answered).max() ?? 1), top: top, height: Self.panel.height)
        let latency = Scale(most: max(intervals.map(\.p99).max() ?? 0, 0.001), top: top, height: Self.panel.height)
        func line(_ scale: Scale, _ value: (LoadRecorder.Interval) -> Double) -> [String] {
            intervals.map { "\(Self.number(x($0.time))),\(Self.number(scale.y(value($0))))" }
        }
        return frame(top, "answered in each second (blue), and their p99 (red, to \(Self.number(latency.most)) ms)", answers)
            + polyline(line(answers) { Double($0.answered) }, "#1f5fa8") + polyline(line(latency) { $0.p99 }, "#b3261e")
            + label("\(Self.number(end)) s", x: x(end), y: top + Self.panel.height + 18, anchor: "end")
    }

    /// From a value to its height in the picture.
    private struct Scale {
        let most: Double
        let top: Double
        let height: Double

        func y(_ value: Double) -> Double { top + height * (1 - min(1, value / most)) }
    }

    private func frame(_ top: Double, _ title: String, _ scale: Scale) -> String {
        let lines = [0.0, 0.25, 0.5, 0.75, 1].map { share in
            let y = scale.y(share * scale.most)
            return """
                <line x1="\(Self.panel.left)" x2="\(Self.panel.left + Self.panel.width)" y1="\(y)" y2="\(y)" stroke="#ddd"/>
                \(label(Self.number(share * scale.most), x: Self.panel.left - 8, y: y + 4, anchor: "end"))
                """
        }
        return label(title, x: Self.panel.left, y: top - 8, anchor: "start") + lines.joined(separator: "\n")
    }

    private func polyline(_ points: [String], _ colour: String) -> String {
        "<polyline fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\" points=\"\(points.joined(separator: " "))\"/>\n"
    }

    private func label(_ text: String, x: Double, y: Double, anchor: String) -> String {
        "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\">\(text)</text>\n"
    }

    /// Without a tail of digits.
    private static func number(_ value: Double) -> String {
        let rounded = (value * 1_000).rounded() / 1_000
        return rounded == rounded.rounded() && rounded.magnitude < 1e15 ? "\(Int(rounded))" : "\(rounded)"
    }
}
