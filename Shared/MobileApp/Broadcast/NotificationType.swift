import Schemas

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
