import Glibc
import SeededRandom

/// A fixed or random delay, in milliseconds.
enum Latency: Hashable, Sendable {
    case fixed(Double)
    /// A uniform distribution between the two.
    case uniform(min: Double, max: Double)
    /// A log-normal distribution with this median. One value in a hundred is longer than `p99`.
    case longTail(median: Double, p99: Double)

    /// The upper limit of every delay: an hour, in milliseconds.
    static let maxMilliseconds = 3_600_000.0

    /// The 99th percentile of the standard normal distribution.
    private static let normalP99 = 2.326_347_874_040_841

    func draw(from generator: inout SeededGenerator) -> Duration {
        let milliseconds =
            switch self {
            case .fixed(let value): value
            case .uniform(let min, let max): Double.random(in: min...max, using: &generator)
            case .longTail(let median, let p99): median * exp(log(p99 / median) / Self.normalP99 * Self.normal(&generator))
            }
        return .microseconds(Int64(min(milliseconds, Self.maxMilliseconds) * 1_000))
    }

    /// One value of the standard normal distribution (Box–Muller).
    private static func normal(_ generator: inout SeededGenerator) -> Double {
        let radius = sqrt(-2 * log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)))
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
    }
}
