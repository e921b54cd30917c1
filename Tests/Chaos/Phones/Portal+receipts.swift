import JSON
import TestSupport

extension Portal {
    /// How many phones have reported each message, once the counts are as expected, or the time is over.
    func receipts(expected: [String: Int], within limit: Duration) async throws -> [String: Int] {
        let deadline = ContinuousClock.now + limit
        while true {
            let receipts = try await receipts()
            if receipts == expected || ContinuousClock.now >= deadline { return receipts }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func receipts() async throws -> [String: Int] {
        try await all("messages", at: "/message?limit=200").reduce(into: [:]) { receipts, message in
            if let key = message["msi_key"]?.string, let received = message["receipts"]?["received"]?.integer {
                receipts[key] = Int(received)
            }
        }
    }
}
