package import Base

/// A broadcast as its author writes it, in the structure that the seeds agreed on (seed 004), with our additions: the audience,
/// the repetition, and an exact lifetime.
package struct BroadcastDraft: Codable, Checked, Hashable, Sendable {
    /// `nil` to let the hub choose. 1 to ``maxID``.
    package var id: Int64?
    package var type: BroadcastType
    /// Hours after the installation of the app. Only local broadcasts have it, which ship with the app.
    package var relativeTime: Int?
    /// When it begins; `nil` for now. Only server broadcasts have it.
    package var epoch: BroadcastEpoch?
    /// Minutes after ``epoch``. Only server broadcasts have it.
    package var expiry: Int?
    /// The exact time from the beginning to the expiry, if it is no whole number of minutes: the seed's `34646millis`. With
    /// ``expiry`` as well, that is the same time, rounded up.
    package var lifetime: Milliseconds?
    package var actionData: BroadcastActionData
    /// The channels whose phones it is for; `nil` for every phone.
    package var channels: [ObjectID]?
    /// An FCM condition over topics; `nil` for every phone.
    package var condition: String?
    /// After how many minutes the push is repeated until the expiry, at least ``minRepetition``; `nil` for never.
    package var repetition: Int?

    package init(
        id: Int64? = nil, type: BroadcastType, relativeTime: Int? = nil, epoch: BroadcastEpoch? = nil, expiry: Int? = nil,
        lifetime: Milliseconds? = nil, actionData: BroadcastActionData, channels: [ObjectID]? = nil, condition: String? = nil,
        repetition: Int? = nil
    ) {
        self.id = id
        self.type = type
        self.relativeTime = relativeTime
        self.epoch = epoch
        self.expiry = expiry
        self.lifetime = lifetime
        self.actionData = actionData
        self.channels = channels
        self.condition = condition
        self.repetition = repetition
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, type, epoch, expiry, lifetime, channels, condition
        case relativeTime = "relativetime"
        case actionData = "actiondata"
        case repetition = "repeat"
    }

    package static let maxID: Int64 = 2_147_483_647
    package static let ids = 1...maxID
    /// A year of minutes.
    package static let maxExpiry = 525_600
    /// Milliseconds: what ends sooner does not reach FCM in time.
    private static let minLifetime: Int64 = 1_000
    /// Minutes. Each repetition wakes all phones of the audience.
    package static let minRepetition = 15
    package static let maxChannels = 20
    /// The latest first display of a local broadcast: a year after the installation.
    package static let maxRelativeTime = 8_784

    package func check() throws(SchemaViolation) {
        try Self.ids.check(id, CodingKeys.id)
        try (1...Self.maxExpiry).check(expiry, CodingKeys.expiry)
        try (Self.minLifetime...Int64(Self.maxExpiry) * 60_000).check(lifetime?.rawValue, CodingKeys.lifetime)
        if let expiry, let lifetime, expiry != lifetime.roundedUpToMinutes {
            throw SchemaViolation(
                CodingKeys.lifetime, "expected the \(expiry) minutes of expiry, found \(lifetime) ms; leave one of them out")
        }
        try (0...Self.maxRelativeTime).check(relativeTime, CodingKeys.relativeTime)
        try (Self.minRepetition...Self.maxExpiry).check(repetition, CodingKeys.repetition)
        if let channels {
            guard (1...Self.maxChannels).contains(channels.count) else {
                throw SchemaViolation(CodingKeys.channels, "expected 1 to \(Self.maxChannels) channels, found \(channels.count)")
            }
            for (position, channel) in channels.enumerated() where channels[..<position].contains(channel) {
                throw SchemaViolation(field: "channels[\(position)]", problem: "there twice, expected each channel once")
            }
        }
        if let condition {
            guard channels == nil else {
                throw SchemaViolation(CodingKeys.condition, "expected channels or a condition, not both")
            }
            try TextLimits.condition.check(condition, CodingKeys.condition)
            if let problem = TopicCondition.problem(with: condition) { throw SchemaViolation(CodingKeys.condition, problem) }
        }
        do throws(SchemaViolation) {
            try actionData.check(for: type)
        } catch {
            throw SchemaViolation(field: "\(CodingKeys.actionData.rawValue).\(error.field)", problem: error.problem)
        }
    }

    /// Checks that it is a broadcast for the hub to send.
    ///
    /// - Parameters:
    ///   - language: The default language, in which a displayed one must have texts.
    ///   - now: Its expiry must be later.
    package func checkForSending(language: String, now: UnixMilliseconds) throws(SchemaViolation) {
        guard relativeTime == nil else {
            throw SchemaViolation(CodingKeys.relativeTime, "only local broadcasts have it, which ship with the app")
        }
        guard expiry != nil || lifetime != nil else {
            throw SchemaViolation(CodingKeys.expiry, "missing, expected minutes after epoch")
        }
        guard times(now: now).expires > now else {
            throw SchemaViolation(
                CodingKeys.expiry, "in the past: epoch and expiry have it end at \(BroadcastEpoch(times(now: now).expires))")
        }
        guard times(now: now).starts <= now + Self.maxLead else {
            throw SchemaViolation(CodingKeys.epoch, "expected a time within a year")
        }
        let (starts, expires) = times(now: now)
        if let repetition, Milliseconds.seconds(Int64(repetition) * 60) >= expires - starts {
            throw SchemaViolation(CodingKeys.repetition, "expected fewer minutes than the broadcast lasts")
        }
        try checkTexts(in: language)
    }

    /// Checks that it is a broadcast that ships with the app.
    package func checkForShipping(language: String) throws(SchemaViolation) {
        guard relativeTime != nil else {
            throw SchemaViolation(CodingKeys.relativeTime, "missing, expected hours after the installation")
        }
        for (key, isPresent) in [
            (CodingKeys.epoch, epoch != nil), (.expiry, expiry != nil || lifetime != nil), (.channels, channels != nil),
            (.condition, condition != nil), (.repetition, repetition != nil),
        ] where isPresent {
            throw SchemaViolation(key, "only broadcasts of the hub have it")
        }
        guard id != nil else { throw SchemaViolation(CodingKeys.id, "missing, expected an integer") }
        guard type != .nonDisplay else { throw SchemaViolation(CodingKeys.type, "expected one that is displayed") }
        guard actionData.cancellable != false else {
            throw SchemaViolation(field: "actiondata.cancellable", problem: "expected true: it has no expiry")
        }
        guard actionData.popup == nil else {
            throw SchemaViolation(field: "actiondata.popup", problem: "only broadcasts of the hub have it")
        }
        try checkTexts(in: language)
    }

    private func checkTexts(in language: String) throws(SchemaViolation) {
        guard let translations = actionData.translations else { return }
        guard translations.keys.contains(where: { LanguageTag.key(of: $0) == LanguageTag.key(of: language) }) else {
            throw SchemaViolation(
                field: "actiondata.translations.\(language)", problem: "no texts in the default language, which is \(language)")
        }
    }

    private static let maxLead = Milliseconds.seconds(366 * 86_400)

    /// When it begins and ends.
    ///
    /// - Parameter now: When it was sent, for one without a beginning.
    package func times(now: UnixMilliseconds) -> (starts: UnixMilliseconds, expires: UnixMilliseconds) {
        let starts = epoch?.moment ?? now
        return (starts, starts + (lifetime ?? .seconds(Int64(expiry ?? 0) * 60)))
    }
}

/// What a broadcast is about (seed 004, the agreed structure: "DOWNTIME, GREETINGS, NON-DISPLAY and OTHERS"; the intermediate
/// structure numbers them "downtime - 1 / others - 2"). In JSON it is the number.
package enum BroadcastType: Int, Codable, CaseIterable, Hashable, Sendable {
    case downtime = 1
    case others = 2
    case greetings = 3
    /// Nothing to see: a feature switch, or data for the app.
    case nonDisplay = 4

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number = try container.decode(Int.self)
        guard let value = Self(rawValue: number) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.expected)
        }
        self = value
    }

    static let expected = "expected 1 (DOWNTIME), 2 (OTHERS), 3 (GREETINGS) or 4 (NON-DISPLAY)"

    /// The notification types that fit, the default one first (seed 004, "notificationtype").
    package var notificationTypes: [BroadcastNotificationType] {
        switch self {
        case .downtime: [.downtime]
        case .others: [.others, .general]
        case .greetings: [.festive]
        case .nonDisplay: [.enableFeature, .disableFeature]
        }
    }
}
