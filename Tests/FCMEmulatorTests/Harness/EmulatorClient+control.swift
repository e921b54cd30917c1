import Foundation
import NIOHTTP1
import TestSupport

extension EmulatorClient {
    /// Replaces the rules of fault injection.
    @discardableResult
    func fault(_ rules: String..., seed: Int = 1) async throws -> HTTPAnswer {
        try await call(
            .PUT, "/emulator/faults", token: nil, "{\"seed\":\(seed),\"rules\":[\(rules.joined(separator: ","))]}")
    }

    /// The number of hits of each rule.
    func faultHits() async throws -> [Int] {
        let rules = try await call(.GET, "/emulator/faults", token: nil).object["rules"] as? [[String: Any]] ?? []
        return rules.compactMap { $0["hits"] as? Int }
    }

    /// The topics of the accepted sends, in order.
    func acceptedTopics() async throws -> [String] {
        let text = try await call(.GET, "/emulator/messages", token: nil).text
        let list = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
        return list.compactMap { (($0["body"] as? [String: Any])?["message"] as? [String: Any])?["topic"] as? String }
    }
}
