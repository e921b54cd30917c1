import Schemas

/// A topic as the pacer's key. A topic that has had too many messages pauses alone.
enum FCMTopic: Hashable, Sendable {
    /// A subject's topic. Its name is not written out for every message.
    case subject(TopicKey)
    case other(String)

    /// - Parameter name: FCM's name of the topic.
    init(_ name: String) {
        self = TopicKey(name).map { .subject($0) } ?? .other(name)
    }
}
