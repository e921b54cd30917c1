import JSON
import NIOHTTP1
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
        var receipts: [String: Int] = [:]
        var next: String? = "/message?limit=200"
        while let path = next {
            let answer = try await call(.GET, path)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            let page = try answer.json
            for message in page["messages"]?.elements ?? [] {
                guard let key = message["msi_key"]?.string, let received = message["receipts"]?["received"]?.integer else {
                    continue
                }
                receipts[key] = Int(received)
            }
            next = page["next"]?.string
        }
        return receipts
    }
}
