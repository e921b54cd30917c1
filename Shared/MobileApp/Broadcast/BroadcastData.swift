import Schemas

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
