import Schemas

/// `GET /session`: which messages a token may see.
struct TokenSession: Decodable, Sendable {
    let role: Role
    /// The parts of the cube that the token is restricted to; `nil` for the whole cube.
    let scope: [TopicPrefix]?
    /// The topics that it may send to; `nil` for all. Empty without the right to send.
    let topics: [TopicKey]?

    /// Whether it sees all messages.
    var seesAll: Bool { role == .superUser && scope == nil }

    /// Whether it is sure to see the messages of a topic.
    func sees(_ topic: TopicKey) -> Bool {
        let isInScope = scope?.contains { $0.contains(topic) } ?? true
        return isInScope && (role == .superUser || topics?.contains(topic) ?? true)
    }
}
