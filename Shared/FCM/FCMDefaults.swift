/// What the relay tells FCM where a message does not say.
package struct FCMDefaults: Hashable, Sendable {
    /// How urgent a message is to Android's phones, as FCM has it.
    package enum Priority: String, CaseIterable, Sendable {
        /// Delivered at once, also to a phone that sleeps.
        case high
        /// Delivered when the phone next wakes up.
        case normal
    }

    /// For how many seconds FCM keeps an Alert for phones that are off: a phone that was off for weeks must not show it any more.
    package var alertTimeToLive: Int64 = 86_400
    /// The priority of Information, which shows nothing. The seed sends it with high priority; Android demotes apps whose messages
    /// of high priority show nothing.
    package var informationPriority = Priority.high

    package init() {}
}
