/// A broadcast as the app shows it when it is started: a card over everything else.
public struct BroadcastCard: Hashable, Sendable, Identifiable {
    public enum Kind: String, Sendable {
        case downtime, others, greetings
    }

    /// Where it comes from.
    public enum Origin: String, Sendable {
        /// From the hub, by FCM or because the app asked.
        case hub
        /// It ships with the app.
        case app
    }

    /// Of all cards of one origin.
    public let number: Int64
    public let origin: Origin
    public let kind: Kind
    public let title: String
    public let message: String
    /// The address of a picture (https). A picture that cannot be loaded is left out.
    public let poster: String?
    /// Whether the student may close it. Otherwise it stays until it expires or is withdrawn.
    public let isCancellable: Bool
    /// In Unix milliseconds; `nil` for one of the app.
    public let expires: Int64?

    public var id: String { "\(origin.rawValue)-\(number)" }
}

/// A feature of the app that the hub has switched for this phone.
public struct AppFeature: Hashable, Sendable, Identifiable {
    public let name: String
    public let isOn: Bool
    /// The free-form data of the switch.
    public let data: String?
    /// Until when, in Unix milliseconds. Then the feature is again as the app has it.
    public let expires: Int64

    public var id: String { name }
}
