import Glibc
import SeededRandom

/// How long something takes, in milliseconds.
enum Latency: Hashable, Sendable {
    case fixed(Double)
    /// Anything between the two, each as likely as the other.
    case uniform(least: Double, most: Double)
    /// A few take very long: a log-normal distribution with this median, of which one in a hundred is longer than `p99`.
    case longTail(median: Double, p99: Double)

    /// An hour, in milliseconds: nothing takes longer.
    static let longest = 3_600_000.0

    /// What 99 of 100 values of a normal distribution are below.
    private static let normalP99 = 2.326_347_874_040_841

    func draw(from generator: inout SeededGenerator) -> Duration {
        let milliseconds =
            switch self {
            case .fixed(let value): value
            case .uniform(let least, let most): Double.random(in: least...most, using: &generator)
            case .longTail(let median, let p99): median * exp(log(p99 / median) / Self.normalP99 * Self.normal(&generator))
            }
        return .microseconds(Int64(min(milliseconds, Self.longest) * 1_000))
    }

    /// One value of the standard normal distribution (Box–Muller).
    private static func normal(_ generator: inout SeededGenerator) -> Double {
        let radius = sqrt(-2 * log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)))
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
    }
}
