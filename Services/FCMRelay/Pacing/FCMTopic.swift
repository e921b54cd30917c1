import Schemas

/// A topic of FCM's, by what the pacer knows it: one that has had too many messages pauses alone.
enum FCMTopic: Hashable, Sendable {
    /// A subject's: its name is not spelt out for every message.
    case subject(TopicKey)
    case other(String)

    /// - Parameter name: As FCM has it.
    init(_ name: String) {
        self = TopicKey(name).map { .subject($0) } ?? .other(name)
    }
}
