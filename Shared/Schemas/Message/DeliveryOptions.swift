/// How FCM and the phones are to treat a message, beyond its words: `options` of what a portal posts, of a message and of
/// `message.relay`. Everything may be left out.
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

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case channelID = "channel_id"
        }

        package init(from decoder: any Decoder) throws {
            channelID = try StrictFields(of: decoder, as: CodingKeys.self).text(.channelID, .platformName)
        }
    }

    /// What Apple's phones alone take.
    package struct APNs: Codable, Hashable, Sendable {
        /// The notification category of the app, which says what buttons the pop-up has.
        package var category: String

        package init(category: String) {
            self.category = category
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case category
        }

        package init(from decoder: any Decoder) throws {
            category = try StrictFields(of: decoder, as: CodingKeys.self).text(.category, .platformName)
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        image = try fields.optionalText(.image, .imageURL)
        if let image, !Self.isImageURL(image) { throw fields.violation(.image, "expected an https:// URL of ASCII characters") }
        collapseKey = try fields.optionalText(.collapseKey, .label)
        analyticsLabel = try fields.optionalText(.analyticsLabel, .label)
        for (key, label) in [(CodingKeys.collapseKey, collapseKey), (.analyticsLabel, analyticsLabel)] {
            guard let label else { continue }
            guard label.utf8.allSatisfy(Self.isLabelCharacter) else {
                throw fields.violation(key, "expected ASCII letters, digits and -_.~% alone")
            }
        }
        android = try fields.optional(.android)
        apns = try fields.optional(.apns)
    }

    private static func isImageURL(_ text: String) -> Bool {
        let rest = text.dropFirst(8)
        return text.hasPrefix("https://") && !rest.isEmpty && rest.first != "/"
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// What FCM takes in an analytics label: `[a-zA-Z0-9-_.~%]`.
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
    fileprivate static let imageURL = TextLimits(most: 1_000)
    /// FCM's limit on analytics labels; a collapse key, with what tells the components apart, fits APNs's 64 bytes.
    fileprivate static let label = TextLimits(most: 50)
    /// A name that the app has given to something.
    fileprivate static let platformName = TextLimits(most: 200)
}
