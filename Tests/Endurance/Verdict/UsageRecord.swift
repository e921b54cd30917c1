import TestSupport

/// What a process held at even distances of time.
struct UsageRecord: Sendable {
    private(set) var samples: [ProcessUsage] = []

    var last: ProcessUsage? { samples.last }

    mutating func append(_ usage: ProcessUsage) {
        samples.append(usage)
    }

    /// The median of a figure in the second fifth of the time and in the last: the first fifth is for warming up. `nil` where there
    /// are too few samples.
    func course(of figure: KeyPath<ProcessUsage, Int>) -> (from: Int, to: Int)? {
        let fifth = samples.count / 5
        guard fifth > 0 else { return nil }
        return (
            Self.median(samples[fifth..<2 * fifth].map { $0[keyPath: figure] }),
            Self.median(samples.suffix(fifth).map { $0[keyPath: figure] })
        )
    }

    private static func median(_ values: [Int]) -> Int {
        values.sorted()[values.count / 2]
    }
}
