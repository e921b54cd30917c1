/// The outbox shares its turns between these keys. Many items under one key do not delay those under others.
package enum FairnessKey: Hashable, Sendable {
    /// The topic of a cube message.
    case topic(TopicKey)
    /// The key that a service chose for its push.
    case named(String)
}
