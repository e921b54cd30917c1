/// How FCM and the phones are to treat a message, beyond its words: `options` of what a portal posts, of a message and of
/// `message.relay`. Everything may be left out. What somebody sends is read as ``CheckedDeliveryOptions``; what is stored is read
/// as it is, so that a rule made stricter keeps no message back that was accepted before.
///
/// `{"image":"https://…","collapse_key":"storm","analytics_label":"storm","android":{"channel_id":"alerts"},"apns":{"category":"ALERT"}}`
package struct DeliveryOptions: Codable, Hashable, Sendable {
    /// What Android alone takes.
    package struct Android: Codable, Hashable, Sendable {
        /// The notification channel of the app that the pop-up appears in.
        package var channelID: String

        package init(channelID: String) {
            self.channelID = channelID
        }

        private enum CodingKeys: String, CodingKey {
            case channelID = "channel_id"
        }
    }

    /// What Apple's phones alone take.
    package struct APNs: Codable, Hashable, Sendable {
        /// The notification category of the app, which says what buttons the pop-up has.
        package var category: String

        package init(category: String) {
            self.category = category
        }

    }

    /// A picture in the pop-up, which phones fetch from this `https://` URL.
    package var image: String?
    /// Of the messages with the same key that wait for a phone that is off, FCM keeps the newest alone; it knows four keys a
    /// phone, and an Alert takes two.
    package var collapseKey: String?
    /// What FCM's own statistics count the message under.
    package var analyticsLabel: String?
    package var android: Android?
    package var apns: APNs?

    private enum CodingKeys: String, CodingKey {
        case image, android, apns
        case collapseKey = "collapse_key"
        case analyticsLabel = "analytics_label"
    }

    package init(
        image: String? = nil, collapseKey: String? = nil, analyticsLabel: String? = nil, android: Android? = nil,
        apns: APNs? = nil
    ) {
        self.image = image
        self.collapseKey = collapseKey
        self.analyticsLabel = analyticsLabel
        self.android = android
        self.apns = apns
    }
}
