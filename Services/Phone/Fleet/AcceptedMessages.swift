import FoundationEssentials
import JSON
import MobileApp
import NIOHTTP1

/// The messages whose data FCM has accepted, as the hub tells them (`POST /message/since`).
struct AcceptedMessages: Sendable {
    let gateway: String
    let hub: Network

    private static let maxTopics = 800
    private static let fullPage = 100

    /// The keys of the accepted messages of topics by their topics.
    ///
    /// - Parameter start: Messages that were posted before it are left out, in Unix milliseconds.
    func read(_ topics: Set<String>, since start: Int64) async throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        var rest = topics.sorted()[...]
        while !rest.isEmpty {
            try await read(Array(rest.prefix(Self.maxTopics)), since: start, into: &found)
            rest = rest.dropFirst(Self.maxTopics)
        }
        return found
    }

    private func read(_ topics: [String], since start: Int64, into found: inout [String: Set<String>]) async throws {
        // A message is accepted after it was posted, so nothing before that is of interest.
        var position = "\(start)-000000000000000000000000"
        while true {
            let body: JSONValue = ["topics": .array(topics.map { .string($0) }), "after": .string(position)]
            let answer = try await hub.answer(.POST, gateway + "/message/since", body: body.data)
            guard answer.status == 200 else { throw Network.Failure(description: "/message/since answers \(answer.status)") }
            let page = try JSONValue(parsing: answer.body)
            guard let messages = page["messages"]?.elements, let next = page["next"]?.string else {
                throw Network.Failure(description: "/message/since has no messages")
            }
            for message in messages {
                guard let topic = message["topic_key"]?.string, let key = message["msi_key"]?.string,
                    let timestamp = message["timestamp"]?.integer, timestamp >= start
                else { continue }
                found[topic, default: []].insert(key)
            }
            if messages.count < Self.fullPage { return }
            position = next
        }
    }
}
