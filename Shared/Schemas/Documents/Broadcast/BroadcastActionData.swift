import Base

/// The seed's `notificationtype`.
package enum BroadcastNotificationType: String, ClosedEnum {
    case general, festive, downtime, others
    case enableFeature = "enable-feature"
    case disableFeature = "disable-feature"
}

/// The half of an A/B test that a share of phones belongs to.
package enum FeatureGroup: String, ClosedEnum {
    /// The phones whose bucket is below the share.
    case a = "A"
    /// The phones at the other end. A share of a group is at most 50 %, so that A and B have no phone in common.
    case b = "B"
}

/// What a broadcast says or does: "all the information related to type of the notification" (seed 004). Which fields it has
/// depends on the type.
package struct BroadcastActionData: Codable, Hashable, Sendable {
    /// A title and a text in one language.
    package struct Translation: Codable, Hashable, Sendable {
        package let title: String
        package let msg: String

        package init(title: String, msg: String) {
            self.title = title
            self.msg = msg
        }

        package enum CodingKeys: String, CodingKey, CaseIterable {
            case title, msg
        }
    }

    /// The address of a picture (https); for display only.
    package var poster: String?
    /// The texts by language tag; for display only.
    package var translations: [String: Translation]?
    /// Whether a person may close the card; `nil` is `true`. For display only.
    package var cancellable: Bool?
    /// Whether the operating system shows a pop-up as well, even while the app does not run; `nil` is `true`. For type 1 only.
    package var popup: Bool?
    /// `nil` for the type's own one. Required for non-display.
    package var notificationType: BroadcastNotificationType?
    /// The feature that is switched; for non-display only.
    package var feature: String?
    /// The percentage of phones that the switch applies to, 1 to 100, of a group 1 to 50; `nil` for all.
    package var share: Int?
    /// Which phones the share takes; `nil` is ``FeatureGroup/a``.
    package var group: FeatureGroup?
    /// Free-form data for the app.
    package var data: String?

    package init(
        poster: String? = nil, translations: [String: Translation]? = nil, cancellable: Bool? = nil, popup: Bool? = nil,
        notificationType: BroadcastNotificationType? = nil, feature: String? = nil, share: Int? = nil, group: FeatureGroup? = nil,
        data: String? = nil
    ) {
        self.poster = poster
        self.translations = translations
        self.cancellable = cancellable
        self.popup = popup
        self.notificationType = notificationType
        self.feature = feature
        self.share = share
        self.group = group
        self.data = data
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case poster, translations, cancellable, popup, feature, share, group, data
        case notificationType = "notificationtype"
    }
}

extension BroadcastActionData {
    /// With the defaults of a type in place of absent fields: the first two forms of the seeds always name them.
    func withDefaults(of type: BroadcastType) -> BroadcastActionData {
        var full = self
        full.notificationType = notificationType ?? type.notificationTypes[0]
        if type != .nonDisplay { full.cancellable = cancellable ?? true }
        if type == .downtime { full.popup = popup ?? true }
        return full
    }

    /// Checks the fields against the type.
    ///
    /// - Throws: A violation with the field's path inside the action data.
    func check(for type: BroadcastType) throws(SchemaViolation) {
        if let notificationType, !type.notificationTypes.contains(notificationType) {
            let valid = type.notificationTypes.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
            throw SchemaViolation(CodingKeys.notificationType, "expected \(valid) for type \(type.rawValue)")
        }
        try TextLimits.broadcastData.check(data, CodingKeys.data)
        guard popup == nil || type == .downtime else { throw SchemaViolation(CodingKeys.popup, "only type 1 (DOWNTIME) has it") }
        if type == .nonDisplay { try checkSwitch() } else { try checkDisplay() }
    }

    private func checkDisplay() throws(SchemaViolation) {
        for (key, isPresent) in [(CodingKeys.feature, feature != nil), (.share, share != nil), (.group, group != nil)]
        where isPresent {
            throw SchemaViolation(key, "only type 4 (NON-DISPLAY) has it")
        }
        if let poster { try Self.check(poster: poster) }
        guard let translations, !translations.isEmpty else {
            throw SchemaViolation(CodingKeys.translations, "missing, expected a title and a msg by language")
        }
        var tags: Set<String> = []
        for (tag, texts) in translations.sorted(by: { $0.key < $1.key }) {
            let path = "translations.\(String(tag.unicodeScalars.prefix(40)))"
            guard LanguageTag(tag) != nil else {
                throw SchemaViolation(field: path, problem: "not a known language, expected a tag such as en, hi or pt-BR")
            }
            guard tags.insert(LanguageTag.key(of: tag)).inserted else {
                throw SchemaViolation(field: path, problem: "there twice: in a language tag, case does not matter, and iw is he")
            }
            for (key, text, limits) in [("title", texts.title, TextLimits.title), ("msg", texts.msg, .messageText)] {
                if let problem = limits.problem(with: text) { throw SchemaViolation(field: "\(path).\(key)", problem: problem) }
            }
        }
    }

    private func checkSwitch() throws(SchemaViolation) {
        for (key, isPresent) in [
            (CodingKeys.poster, poster != nil), (.translations, translations != nil), (.cancellable, cancellable != nil),
        ] where isPresent {
            throw SchemaViolation(key, "type 4 (NON-DISPLAY) has none: nothing is shown")
        }
        guard notificationType != nil else {
            throw SchemaViolation(CodingKeys.notificationType, "missing, expected \"enable-feature\" or \"disable-feature\"")
        }
        try TextLimits.featureName.check(feature, CodingKeys.feature)
        guard feature != nil || data != nil else {
            throw SchemaViolation(CodingKeys.feature, "missing, expected a feature, or else data for the app")
        }
        if feature == nil, share != nil { throw SchemaViolation(CodingKeys.share, "only a feature has it") }
        try (1...100).check(share, CodingKeys.share)
        if group != nil, share == nil { throw SchemaViolation(CodingKeys.group, "expected a share as well") }
        if group != nil, let share, share > 50 {
            throw SchemaViolation(CodingKeys.share, "expected at most 50 for a group, so that A and B have no phone in common")
        }
    }

    private static func check(poster: String) throws(SchemaViolation) {
        if let problem = PictureAddress.problem(with: poster) { throw SchemaViolation(CodingKeys.poster, problem) }
        try TextLimits.posterAddress.check(poster, CodingKeys.poster)
    }
}

extension TextLimits {
    /// Free-form data of a broadcast.
    package static let broadcastData = TextLimits(max: 2_000, mayBeBlank: true)
    /// The address of a poster.
    package static let posterAddress = TextLimits(max: 2_000)
    /// The name of a feature of the app.
    package static let featureName = TextLimits(max: 64, lettersDigitsAnd: "-_.")
}
