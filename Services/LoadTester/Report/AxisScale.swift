import Glibc

/// The scale of an axis, with ticks at round values. Pure.
struct AxisScale: Sendable {
    /// The values at the axis's ends.
    let low: Double
    let high: Double
    let isLogarithmic: Bool
    let ticks: [Double]

    /// An axis from 0 to a round value that is at least the largest.
    ///
    /// - Parameter count: The approximate number of ticks.
    static func linear(to largest: Double, count: Int = 5) -> AxisScale {
        let step = roundUp(max(largest, .leastNormalMagnitude) / Double(count))
        let steps = max(1, (largest / step).rounded(.up))
        return AxisScale(
            low: 0, high: steps * step, isLogarithmic: false, ticks: (0...Int(steps)).map { Double($0) * step })
    }

    /// An axis for values above 0. It is logarithmic if the largest is many times the smallest.
    static func fitting(_ smallest: Double, _ largest: Double) -> AxisScale {
        guard smallest > 0, largest / smallest > 12 else { return linear(to: largest) }
        let isWide = largest / smallest > 1_000
        let bottom = roundDown(smallest, toDecade: isWide)
        let top = roundUp(largest, toDecade: isWide)
        let decades = Int(log10(bottom).rounded(.down))...Int(log10(top).rounded(.up))
        let ticks = decades.flatMap { decade in (isWide ? [1.0] : [1.0, 2, 5]).map { $0 * power(decade) } }
        return AxisScale(
            low: bottom, high: top, isLogarithmic: true, ticks: ticks.filter { $0 >= bottom * 0.999 && $0 <= top * 1.001 })
    }

    /// From 0 at the axis's low end to 1 at its high end.
    func share(of value: Double) -> Double {
        let share = isLogarithmic ? log10(max(value, low) / low) / log10(high / low) : (value - low) / (high - low)
        return min(max(share, 0), 1)
    }

    /// The next value up of the form 1, 2 or 5 times a power of ten.
    static func roundUp(_ value: Double, toDecade: Bool = false) -> Double {
        let decade = Int(log10(value).rounded(.down))
        let steps: [Double] = toDecade ? [1, 10] : [1, 2, 5, 10]
        return (steps.first { $0 * power(decade) >= value * 0.999_999 } ?? 10) * power(decade)
    }

    private static func roundDown(_ value: Double, toDecade: Bool) -> Double {
        let decade = Int(log10(value).rounded(.down))
        let steps: [Double] = toDecade ? [1] : [5, 2, 1]
        return (steps.first { $0 * power(decade) <= value * 1.000_001 } ?? 1) * power(decade)
    }

    /// A power of ten, as exact as its text.
    private static func power(_ exponent: Int) -> Double { Double("1e\(exponent)") ?? 1 }
}

/// Short forms of numbers for a plot, with their units.
enum Quantity {
    /// `0.5 ms`, `20 ms`, `1.5 s`.
    static func latency(milliseconds: Double) -> String {
        switch milliseconds {
        case 0: "0"
        case 1_000...: "\(number(milliseconds / 1_000)) s"
        case 1...: "\(number(milliseconds)) ms"
        default: "\(number(milliseconds * 1_000)) µs"
        }
    }

    /// `30 s`, `2 min`, `6 h`.
    ///
    /// - Parameter longest: The longest time on the same axis, which decides the unit.
    static func time(seconds: Double, upTo longest: Double? = nil) -> String {
        guard seconds != 0 else { return "0" }
        return switch longest ?? seconds {
        case 7_200...: "\(number(seconds / 3_600)) h"
        case 120...: "\(number(seconds / 60)) min"
        default: "\(number(seconds)) s"
        }
    }

    /// `2,000`; three significant digits or more.
    static func number(_ value: Double, digits: Int = 3) -> String {
        guard value.isFinite, value != 0 else { return "0" }
        let digits = max(0, digits - 1 - Int(log10(value.magnitude).rounded(.down)))
        let factor = Double("1e\(digits)") ?? 1
        let rounded = value.magnitude >= 1_000 ? value.rounded() : (value * factor).rounded() / factor
        let text = rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        return grouped(text)
    }

    private static func grouped(_ text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let whole = parts.first, whole.count > 3 else { return text }
        var groups: [Substring] = []
        var rest = whole[...]
        while !rest.isEmpty {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return groups.joined(separator: ",") + (parts.count > 1 ? ".\(parts[1])" : "")
    }
}
