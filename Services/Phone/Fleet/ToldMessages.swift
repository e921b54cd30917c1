import FoundationEssentials
import JSON
import MobileApp
import NIOHTTP1

/// What phones should have, as the hub tells them (`POST /message/since`): the messages whose data FCM has accepted, and the Alerts that
/// they fetch without it.
struct ToldMessages: Sendable {
    let gateway: String
    let hub: Network

    private static let maxTopics = 800
    private static let fullPage = 100

    /// The keys of the messages of topics by their topics, and those of recalled Alerts.
    typealias Keys = (messages: [String: Set<String>], recalled: Set<String>)

    /// - Parameter start: Messages that were posted before it are left out, in Unix milliseconds.
    func read(_ topics: Set<String>, since start: Int64) async throws -> Keys {
        var found: Keys = ([:], [])
        var rest = topics.sorted()[...]
        while !rest.isEmpty {
            try await read(Array(rest.prefix(Self.maxTopics)), since: start, into: &found)
            rest = rest.dropFirst(Self.maxTopics)
        }
        return found
    }

    private func read(_ topics: [String], since start: Int64, into found: inout Keys) async throws {
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
            for message in messages + (page["waiting"]?.elements ?? []) {
                guard let topic = message["topic_key"]?.string, let key = message["msi_key"]?.string,
                    let timestamp = message["timestamp"]?.integer, timestamp >= start
                else { continue }
                found.messages[topic, default: []].insert(key)
            }
            found.recalled.formUnion(page["recalled"]?.elements?.compactMap(\.string) ?? [])
            if messages.count < Self.fullPage { return }
            position = next
        }
    }
}
