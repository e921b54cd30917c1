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
