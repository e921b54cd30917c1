import FoundationEssentials
package import JSON

/// How FCM and the phones treat a message: the `options` of a portal's post, of a message and of
/// `message.relay`. All are optional.
///
/// `{"image":"https://…","collapse_key":"storm","analytics_label":"storm","android":{"channel_id":"alerts"},"apns":{"category":"ALERT"}}`
package struct DeliveryOptions: Codable, Checked, Hashable, Sendable {
    /// Options for Android.
    package struct Android: Codable, Checked, Hashable, Sendable {
        /// The notification channel of the app that the pop-up appears in.
        package var channelID: String

        package init(channelID: String) {
            self.channelID = channelID
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case channelID = "channel_id"
        }

        package func check() throws(SchemaViolation) {
            try TextLimits.platformName.check(channelID, CodingKeys.channelID)
        }
    }

    /// Options for iOS.
    package struct APNs: Codable, Checked, Hashable, Sendable {
        /// The app's notification category, which defines the pop-up's buttons.
        package var category: String

        package init(category: String) {
            self.category = category
        }

        private enum CodingKeys: CodingKey, CaseIterable {
            case category
        }

        package func check() throws(SchemaViolation) {
            try TextLimits.platformName.check(category, CodingKeys.category)
        }
    }

    /// A picture in the pop-up, which phones fetch from this `https://` URL.
    package var image: String?
    /// FCM keeps only the newest of the messages with the same key that wait for a phone that is off. It keeps four keys for each
    /// phone, and an Alert takes two.
    package var collapseKey: String?
    /// The message's label in FCM's statistics.
    package var analyticsLabel: String?
    package var android: Android?
    package var apns: APNs?

    private enum CodingKeys: String, CodingKey, CaseIterable {
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
    package func check() throws(SchemaViolation) {
        try TextLimits.imageURL.check(image, CodingKeys.image)
        if let image, !Self.isImageURL(image) {
            throw SchemaViolation(
                CodingKeys.image, "expected an https:// URL with a host, of ASCII characters without a space")
        }
        try Self.check(label: collapseKey, CodingKeys.collapseKey)
        try Self.check(label: analyticsLabel, CodingKeys.analyticsLabel)
    }

    private static func check(label: String?, _ field: CodingKeys) throws(SchemaViolation) {
        try TextLimits.label.check(label, field)
        guard let label, !label.utf8.allSatisfy(isLabelCharacter) else { return }
        throw SchemaViolation(field, "expected only ASCII letters, digits and -_.~%")
    }

    private static func isImageURL(_ text: String) -> Bool {
        text.hasPrefix("https://") && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && URL(string: text)?.host()?.isEmpty == false
    }

    /// The characters of an FCM analytics label: `[a-zA-Z0-9-_.~%]`.
    private static func isLabelCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}

extension TextLimits {
    /// A picture's URL.
    fileprivate static let imageURL = TextLimits(max: 1_000)
    /// FCM's limit on analytics labels. A collapse key with the component's suffix fits APNs's 64 bytes.
    fileprivate static let label = TextLimits(max: 50)
    /// A name that the app defines.
    fileprivate static let platformName = TextLimits(max: 200)
}
