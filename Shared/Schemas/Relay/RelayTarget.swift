/// The target of a message.
package enum RelayTarget: Hashable, Sendable {
    /// The phones that are subscribed to the message's `topic_key`.
    case topic
    /// The phones whose topics fulfil a condition, such as `'a' in topics && !('b' in topics)`, with at most five topics.
    case condition(String)
    /// One phone, by its registration token.
    case token(String)
}
