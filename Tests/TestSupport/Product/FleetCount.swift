import JSON

/// What `msi-phone fleet` has said at its end.
package struct FleetCount: Hashable, Sendable {
    package let phones: Int
    /// By the hub's word, like ``missing``.
    package let expected: Int
    package let delivered: Int
    package let doubled: Int
    package let missing: Int
    /// In milliseconds; `nil` if no message was posted.
    package let p50: Double?
    package let p99: Double?
    package let max: Double?
    /// On how many phones each message is that was received, by `msi_key`: the phones' own word.
    package let received: [String: Int]

    package init(
        phones: Int, expected: Int, delivered: Int, doubled: Int, missing: Int, p50: Double? = nil, p99: Double? = nil,
        max: Double? = nil, received: [String: Int]
    ) {
        self.phones = phones
        self.expected = expected
        self.delivered = delivered
        self.doubled = doubled
        self.missing = missing
        self.p50 = p50
        self.p99 = p99
        self.max = max
        self.received = received
    }
}

extension FleetCount {
    /// - Parameter log: The lines of the fleet's output.
    /// - Returns: `nil` if the last line is not its report.
    package init?(log: some Sequence<some StringProtocol>) {
        var (received, last): ([String: Int], JSONValue?) = ([:], nil)
        for line in log {
            last = try? JSONValue(parsing: Array(line.utf8))
            guard let last, last["message"]?.string == "received", let key = last["msi_key"]?.string else { continue }
            received[key] = last["phones"]?.string.flatMap { Int($0) }
        }
        guard let report = last, let phones = report["phones"]?.integer, let expected = report["expected"]?.integer,
            let delivered = report["delivered"]?.integer, let doubled = report["doubled"]?.integer,
            let missing = report["missing"]?.integer
        else { return nil }
        func milliseconds(_ name: String) -> Double? { report[name]?.number.flatMap { Double($0) } }
        self.init(
            phones: Int(phones), expected: Int(expected), delivered: Int(delivered), doubled: Int(doubled), missing: Int(missing),
            p50: milliseconds("p50_ms"), p99: milliseconds("p99_ms"), max: milliseconds("max_ms"), received: received)
    }
}
