/// What shares its turns in the outbox: however much there is to send under one key, the other keys get theirs.
package enum FairnessKey: Hashable, Sendable {
    /// The topic of a cube message.
    case topic(TopicKey)
    /// The key that a service gave its push.
    case named(String)
}
