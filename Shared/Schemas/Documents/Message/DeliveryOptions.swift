package import Base

/// How FCM and the phones treat a message: the `options` of a portal's post, of a message and of
/// `message.relay`. All are optional.
///
/// `{"image":"https://…","link":"https://…","collapse_key":"storm","analytics_label":"storm","android":{"channel_id":"alerts"},"apns":{"category":"ALERT"}}`
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
    /// What the message is about, for phones to open: an `https:`, `tel:` or `mailto:` address.
    package var link: String?
    /// FCM keeps only the newest of the messages with the same key that wait for a phone that is off. It keeps four keys for each
    /// phone, and an Alert takes two.
    package var collapseKey: String?
    /// The message's label in FCM's statistics.
    package var analyticsLabel: String?
    package var android: Android?
    package var apns: APNs?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case image, link, android, apns
        case collapseKey = "collapse_key"
        case analyticsLabel = "analytics_label"
    }

    package init(
        image: String? = nil, link: String? = nil, collapseKey: String? = nil, analyticsLabel: String? = nil,
        android: Android? = nil, apns: APNs? = nil
    ) {
        self.image = image
        self.link = link
        self.collapseKey = collapseKey
        self.analyticsLabel = analyticsLabel
        self.android = android
        self.apns = apns
    }
    package func check() throws(SchemaViolation) {
        try TextLimits.url.check(image, CodingKeys.image)
        if let image, !PictureAddress.isWellFormed(image) {
            throw SchemaViolation(CodingKeys.image, PictureAddress.problem(with: image) ?? "", limit: PictureAddress.limit)
        }
        try TextLimits.url.check(link, CodingKeys.link)
        if let link, !LinkAddress.isWellFormed(link) {
            throw SchemaViolation(CodingKeys.link, LinkAddress.problem(with: link) ?? "", limit: LinkAddress.limit)
        }
        try TextLimits.label.check(collapseKey, CodingKeys.collapseKey)
        try TextLimits.label.check(analyticsLabel, CodingKeys.analyticsLabel)
    }

    /// Checks what only new options must keep. The relay takes those of an earlier version.
    ///
    /// - Parameter field: The field that has the options.
    func checkNew(_ field: some CodingKey) throws(SchemaViolation) {
        let problems = [
            (CodingKeys.image, image.flatMap(PictureAddress.problem)), (.link, link.flatMap(LinkAddress.problem)),
        ]
        for (key, problem) in problems {
            guard let problem else { continue }
            throw SchemaViolation(field: "\(field.stringValue).\(key.rawValue)", problem: problem)
        }
    }
}

extension TextLimits {
    /// A picture's or a link's URL, which has only ASCII characters.
    fileprivate static let url = TextLimits(max: 1_000)
    /// FCM's limits for analytics labels, used for collapse keys as well: with the component's suffix they fit into APNs's 64 bytes.
    fileprivate static let label = TextLimits(max: 50, lettersDigitsAnd: "-_.~%")
    /// A name that the app defines.
    fileprivate static let platformName = TextLimits(max: 200)
}
