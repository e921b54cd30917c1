package import CoreMetrics

/// A metric of the product: its name, its meaning and its kind, declared once. The parts of the product record it through swift-metrics;
/// `ServiceKit` exposes it for Prometheus.
///
/// Names follow Prometheus's conventions: `msi_` for the product's own, a unit in the plural, `_total` for counters. The values of labels
/// come from small closed sets, such as the names of commands, and never from users.
package struct Instrument: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case counter
        case gauge
        /// Counts values by their size.
        ///
        /// - Parameter buckets: The upper bounds, ascending.
        case histogram(buckets: [Double])
    }

    package let name: String
    /// One sentence for operators.
    package let help: String
    package let kind: Kind

    /// The bounds of durations in seconds: from a fast local request to a slow database.
    package static let durations: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    package init(_ name: String, _ help: String, _ kind: Kind) {
        self.name = name
        self.help = help
        self.kind = kind
    }

    /// The series of a counter with these labels.
    package func counter(_ labels: KeyValuePairs<String, String> = [:]) -> Counter {
        Counter(label: name, dimensions: labels.map { ($0, $1) })
    }

    /// The series of a gauge with these labels.
    package func gauge(_ labels: KeyValuePairs<String, String> = [:]) -> Meter {
        Meter(label: name, dimensions: labels.map { ($0, $1) })
    }

    /// The series of a histogram of durations with these labels. They are recorded as nanoseconds and exposed in seconds.
    package func timer(_ labels: KeyValuePairs<String, String> = [:]) -> CoreMetrics.Timer {
        CoreMetrics.Timer(label: name, dimensions: labels.map { ($0, $1) })
    }

    /// The series of a histogram of other values with these labels.
    package func recorder(_ labels: KeyValuePairs<String, String> = [:]) -> Recorder {
        Recorder(label: name, dimensions: labels.map { ($0, $1) })
    }
}

extension CoreMetrics.Timer {
    /// Records the time since a moment.
    package func record(since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
