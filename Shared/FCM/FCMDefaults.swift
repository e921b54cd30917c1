package import Time

/// How the relay shapes messages: the values that a message does not set, and FCM's limit.
package struct FCMDefaults: Hashable, Sendable {
    /// FCM's priorities for Android.
    package enum Priority: String, CaseIterable, Sendable {
        /// Delivered at once, also to a sleeping phone.
        case high
        /// Delivered when the phone next wakes up.
        case normal
    }

    /// How long FCM keeps an Alert for phones that are off. A phone that was off for weeks must not show it.
    package var alertTimeToLive: Seconds = 86_400
    /// The priority of Information, which shows nothing. The seed sends it with high priority, but Android demotes apps whose
    /// high-priority messages show nothing.
    package var informationPriority = Priority.high

    /// What does not fit leaves out texts (``FittingTexts``).
    package var payloadLimit = PayloadLimit.topic

    package init() {}
}
