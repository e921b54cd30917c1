import JSON

/// What has reached the phones of a load.
struct PhoneReport: Encodable, Hashable, Sendable {
    let phones: Int
    /// What the phones should have by the hub's word: with other messages to Forced and Recommended subjects.
    let expected: Int
    let delivered: Int
    let doubled: Int
    let missing: Int
    /// Accepted messages of the load that are not on every phone, by the phones' own word.
    let incomplete: Int
    /// From a message's `timestamp` until it is in a phone's list, in milliseconds; absent without a message.
    let p50: Double?
    let p99: Double?
    let longest: Double?

    /// Whether each phone has each accepted message, once.
    var isComplete: Bool { doubled == 0 && missing == 0 && incomplete == 0 }

    /// - Parameters:
    ///   - line: The last line of the fleet.
    ///   - received: On how many phones each message is, by `msi_key`.
    ///   - accepted: The keys of the load's accepted messages.
    /// - Returns: `nil` if the line is no report.
    init?(line: JSONValue, received: [String: Int], accepted: [String]) {
        func count(_ name: String) -> Int? { line[name]?.integer.map { Int($0) } }
        func milliseconds(_ name: String) -> Double? { line[name]?.number.flatMap { Double($0) } }
        guard let phones = count("phones"), let expected = count("expected"), let delivered = count("delivered"),
            let doubled = count("doubled"), let missing = count("missing")
        else { return nil }
        self.phones = phones
        self.expected = expected
        self.delivered = delivered
        self.doubled = doubled
        self.missing = missing
        incomplete = accepted.count { received[$0] != phones }
        p50 = milliseconds("p50_ms")
        p99 = milliseconds("p99_ms")
        longest = milliseconds("max_ms")
    }
}
