package import Schemas

/// The maximum number of a message's follow-ups that are listed.
package let maxFollowUps = 100

/// A message that follows another one.
package struct FollowUp: Hashable, Sendable {
    package let msiKey: ObjectID
    package let topicKey: TopicKey

    package init(msiKey: ObjectID, topicKey: TopicKey) {
        self.msiKey = msiKey
        self.topicKey = topicKey
    }
}

/// A message that corrects another one.
package struct Correction: Hashable, Sendable {
    package let msiKey: ObjectID
    package let timestamp: UnixMilliseconds
    package let state: RelayState
}
