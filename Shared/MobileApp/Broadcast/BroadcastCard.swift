import Schemas

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
    /// Each edit at the hub adds 1. It is 1 for one of the app.
    public let version: Int64
    public let kind: Kind
    public let title: String
    public let message: String
    /// The address of a picture (https). A picture that cannot be loaded is left out.
    public let poster: String?
    public let notificationType: NotificationType
    /// Free-form data for the app.
    public let data: String?
    /// Whether the student may close it. Otherwise it stays until it expires or is withdrawn.
    public let isCancellable: Bool
    /// In Unix milliseconds; `nil` for one of the app.
    public let expires: Int64?

    /// The same for each version.
    public var id: String { "\(origin.rawValue)-\(number)" }
}

extension BroadcastCard {
    /// - Parameter language: The phone's.
    /// - Returns: `nil` if nothing is shown.
    init?(_ broadcast: PhoneBroadcast, language: String) {
        self.init(
            broadcast.type, broadcast.actionData, number: broadcast.id, origin: .hub, version: broadcast.version,
            language: language, or: broadcast.language, expires: broadcast.expires.rawValue)
    }

    /// A card that ships with the app.
    ///
    /// - Parameters:
    ///   - language: The phone's.
    ///   - fallback: The app's default language.
    init?(_ draft: BroadcastDraft, id: Int64, language: String, or fallback: String) {
        self.init(
            draft.type, draft.actionData, number: id, origin: .app, version: 1, language: language, or: fallback, expires: nil)
    }

    private init?(
        _ type: BroadcastType, _ action: BroadcastActionData, number: Int64, origin: Origin, version: Int64, language: String,
        or fallback: String, expires: Int64?
    ) {
        guard let texts = action.texts(in: language, or: fallback) else { return nil }
        switch type {
        case .downtime: kind = .downtime
        case .others: kind = .others
        case .greetings: kind = .greetings
        case .nonDisplay: return nil
        }
        self.number = number
        self.origin = origin
        self.version = version
        title = texts.title
        message = texts.msg
        poster = action.poster
        notificationType = NotificationType(action, of: type)
        data = action.data
        isCancellable = action.cancellable ?? true
        self.expires = expires
    }
}

/// A broadcast that shows nothing and switches no named feature: free-form data for the app (seed 001, "non-display").
public struct BroadcastData: Hashable, Sendable, Identifiable {
    /// The broadcast's.
    public let id: Int64
    public let notificationType: NotificationType
    public let data: String
    /// Until when it counts, in Unix milliseconds.
    public let expires: Int64
}

extension BroadcastData {
    /// - Returns: `nil` if it is another broadcast.
    init?(_ broadcast: PhoneBroadcast) {
        let action = broadcast.actionData
        guard broadcast.type == .nonDisplay, action.feature == nil, let data = action.data else { return nil }
        id = broadcast.id
        notificationType = NotificationType(action, of: broadcast.type)
        self.data = data
        expires = broadcast.expires.rawValue
    }
}

/// A feature of the app that the hub has switched for this phone.
public struct AppFeature: Hashable, Sendable, Identifiable {
    public let name: String
    public let isOn: Bool
    /// The free-form data of the switch.
    public let data: String?
    /// The end of the switch, in Unix milliseconds. Afterwards the app's default applies.
    public let expires: Int64

    public var id: String { name }
}

/// What a broadcast is meant for (seed 004, `notificationtype`). The raw values are the seed's.
public enum NotificationType: String, Hashable, Sendable {
    case general, festive, downtime, others
    case enableFeature = "enable-feature"
    case disableFeature = "disable-feature"
}

extension NotificationType {
    /// That of the action, or else the type's own one.
    init(_ action: BroadcastActionData, of type: BroadcastType) {
        switch action.notificationType ?? type.notificationTypes[0] {
        case .general: self = .general
        case .festive: self = .festive
        case .downtime: self = .downtime
        case .others: self = .others
        case .enableFeature: self = .enableFeature
        case .disableFeature: self = .disableFeature
        }
    }
}
