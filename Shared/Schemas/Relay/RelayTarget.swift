/// To whom FCM sends a message.
package enum RelayTarget: Hashable, Sendable {
    /// To the phones that are subscribed to the message's `topic_key`.
    case topic
    /// To those whose topics fulfil this, such as `'a' in topics && !('b' in topics)`: five topics at most.
    case condition(String)
    /// To one phone, by its registration token.
    case token(String)
}
