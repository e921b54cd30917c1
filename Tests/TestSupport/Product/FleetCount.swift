import Base

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
    /// From how many phones each Alert has gone that was recalled, by `msi_key`.
    package let recalled: [String: Int]
    /// On how many phones each broadcast is shown, by its id.
    package let shown: [Int64: Int]
    /// How many broadcasts a phone took over more than once.
    package let doubledBroadcasts: Int
    /// For which phones each feature is on at the end, by their numbers.
    package let features: [String: [Int]]
    /// Each time a broadcast had reached all steady phones, in order.
    package let arrivals: [Arrival]
    /// `nil` for a fleet without accounts.
    package let persons: Persons?

    /// What the persons of the fleet have seen: pushes that should have been shown on their phones.
    package struct Persons: Codable, Hashable, Sendable {
        /// How many are signed in on both of their phones.
        package let accounts: Int
        package let expected: Int
        package let missing: Int
        package let doubled: Int
        package let stray: Int

        package init(accounts: Int, expected: Int, missing: Int = 0, doubled: Int = 0, stray: Int = 0) {
            self.accounts = accounts
            self.expected = expected
            self.missing = missing
            self.doubled = doubled
            self.stray = stray
        }
    }

    /// A broadcast has reached all steady phones.
    package struct Arrival: Hashable, Sendable {
        package let broadcast: Int64
        /// For which of the steady phones each feature is on then.
        package var features: [String: [Int]]

        package init(broadcast: Int64, features: [String: [Int]] = [:]) {
            self.broadcast = broadcast
            self.features = features
        }
    }

    package init(
        phones: Int, expected: Int, delivered: Int, doubled: Int, missing: Int, p50: Double? = nil, p99: Double? = nil,
        max: Double? = nil, received: [String: Int], recalled: [String: Int] = [:], shown: [Int64: Int] = [:],
        doubledBroadcasts: Int = 0,
        features: [String: [Int]] = [:], arrivals: [Arrival] = [], persons: Persons? = nil
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
        self.recalled = recalled
        self.shown = shown
        self.doubledBroadcasts = doubledBroadcasts
        self.features = features
        self.arrivals = arrivals
        self.persons = persons
    }
}

extension FleetCount {
    /// - Parameter log: The lines of the fleet's output.
    /// - Returns: `nil` if the last line is not its report.
    package init?(log: some Sequence<some StringProtocol>) {
        var (received, recalled, last): ([String: Int], [String: Int], JSONValue?) = ([:], [:], nil)
        var (shown, doubledBroadcasts): ([Int64: Int], Int) = ([:], 0)
        var (features, arrivals): ([String: [Int]], [Arrival]) = ([:], [])
        for line in log {
            last = try? JSONValue(parsing: Array(line.utf8))
            let phones = last?["phones"]?.string.flatMap { Int($0) }
            let broadcast = last?["broadcast"]?.string.flatMap { Int64($0) }
            let feature = last?["feature"]?.string
            let list = (last?["phones"]?.string ?? "").split(separator: ",").compactMap { Int($0) }
            switch last?["message"]?.string {
            case "received": if let key = last?["msi_key"]?.string { received[key] = phones }
            case "recalled": if let key = last?["msi_key"]?.string { recalled[key] = phones }
            case "shown": if let id = broadcast { shown[id] = phones }
            case "every phone has the broadcast": if let id = broadcast { arrivals.append(Arrival(broadcast: id)) }
            case "feature of steady phones":
                if let name = feature, !arrivals.isEmpty { arrivals[arrivals.count - 1].features[name] = list }
            case "feature": if let name = feature { features[name] = list }
            case "taken over twice": doubledBroadcasts = last?["broadcasts"]?.string.flatMap { Int($0) } ?? 0
            default: continue
            }
        }
        guard let report = last, let phones = report["phones"]?.integer, let expected = report["expected"]?.integer,
            let delivered = report["delivered"]?.integer, let doubled = report["doubled"]?.integer,
            let missing = report["missing"]?.integer
        else { return nil }
        func milliseconds(_ name: String) -> Double? { report[name]?.number.flatMap { Double($0) } }
        self.init(
            phones: Int(phones), expected: Int(expected), delivered: Int(delivered), doubled: Int(doubled), missing: Int(missing),
            p50: milliseconds("p50_ms"), p99: milliseconds("p99_ms"), max: milliseconds("max_ms"), received: received,
            recalled: recalled, shown: shown, doubledBroadcasts: doubledBroadcasts, features: features, arrivals: arrivals,
            persons: report["persons"].flatMap { try? JSONCoder.decode(Persons.self, from: $0.data) })
    }
}
