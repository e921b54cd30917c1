package import Schemas

/// The silent messages of one account to one topic, such as those of the canary.
package struct MessageOrigin: Hashable, Sendable {
    package let topic: TopicKey
    package let sender: String

    package static let distribution = Distribution.information

    package init(topic: TopicKey, sender: String) {
        self.topic = topic
        self.sender = sender
    }

    package func includes(_ message: Message) -> Bool {
        message.topicKey == topic && message.sender == sender && message.distribution == Self.distribution
    }
}
