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
