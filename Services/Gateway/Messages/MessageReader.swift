import Schemas

/// Which messages of the archive a caller may read: those of the topics that it may send to, and its own ones. A message that somebody
/// has sent stays theirs to follow and to take back, also after its subject was deleted or closed to them.
struct MessageReader: Sendable {
    /// `nil` for all.
    let topics: [TopicKey]?
    /// The account whose own messages count; `nil` if they do not, as for a token that is restricted to a part of the cube.
    let sender: String?
}

extension CubeService {
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func reader(_ principal: Principal) async throws -> MessageReader {
        let topics = try await topics(for: principal)
        return MessageReader(topics: topics, sender: topics == nil || principal.scope != nil ? nil : principal.actor)
    }

    /// Whether a caller may read a message.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func mayRead(_ principal: Principal, _ message: Message) async throws -> Bool {
        if principal.scope == nil, message.sender == principal.actor { return true }
        return try await maySend(principal, to: message.topicKey)
    }
}
