package import Schemas
package import Store

extension Distribution: IndexValue {}

/// The store of the Web Push service.
package enum WebPushStore {
    static let keys = Collection<VAPIDKeyDocument>("webpush_key", reserve: .everything)

    package static let endpointHash = Field("endpoint_hash", \SubscriptionDocument.endpointHash)
    static let subscriptionEnd = Field("expires", \SubscriptionDocument.expires)

    /// Changes may use the disk's reserve: subscriptions can be proven, changed and removed while no further ones are taken.
    package static let subscriptions = Collection<SubscriptionDocument>(
        "webpush_subscription", indexes: [.on(endpointHash), .expiring(subscriptionEnd)], reserve: .changes)

    static let subjectsEnd = Field("expires", \SubjectsDocument.expires)

    package static let subjects = Collection<SubjectsDocument>(
        "webpush_subjects", indexes: [.expiring(subjectsEnd)], reserve: .changes)

    package static let topic = Field("topic", \SubscribedTopic.topic)
    package static let distribution = Field("distribution", \SubscribedTopic.distribution)
    package static let subscription = Field("subscription", \SubscribedTopic.subscription)

    package static let topics = Collection<SubscribedTopic>(
        "webpush_topic", indexes: [.on(topic, distribution, subscription)], reserve: .everything, hasRevisions: false)

    static let fanOutEnd = Field("expires", \FanOutDocument.expires)

    package static let fanOuts = Collection<FanOutDocument>(
        "webpush_fanout", indexes: [.expiring(fanOutEnd)], reserve: .everything)

    package static let declaration = StoreDeclaration("webpush", keys, subscriptions, subjects, topics, fanOuts)
}

extension ObjectID {
    /// Sorts before every other one.
    package static let least = ObjectID(bytes: [UInt8](repeating: 0, count: 12)) ?? ObjectID()
}
