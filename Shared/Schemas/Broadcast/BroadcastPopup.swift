/// The pop-up of a downtime: the system shows it while the app does not run, and the app makes a card of it at its next start.
package struct BroadcastPopup: Hashable, Sendable {
    /// In the default language, since FCM brings the same text to every phone.
    package let texts: BroadcastActionData.Translation
    /// The broadcast without its texts, its picture and its free-form data.
    package let data: [String: String]
    /// The same for each version: a later one replaces the pop-up on the phone.
    package let tag: String

    /// - Returns: `nil` if the broadcast has no pop-up.
    /// - Throws: An encoder's error.
    package init?(_ broadcast: PhoneBroadcast) throws {
        guard broadcast.type == .downtime, broadcast.actionData.popup ?? true,
            let texts = broadcast.actionData.texts(in: broadcast.language, or: broadcast.language)
        else { return nil }
        self.texts = texts
        var rest = broadcast
        rest.actionData = BroadcastActionData(cancellable: broadcast.actionData.cancellable)
        // FCM brings it only to the phones that it is for.
        (rest.channels, rest.condition) = (nil, nil)
        data = try BroadcastPushData.broadcast(rest).data
        tag = Self.tag(of: broadcast.id)
    }

    /// What names the pop-up of a broadcast on the phone.
    package static func tag(of id: Int64) -> String { "broadcast-\(id)" }

    /// The broadcast that a pop-up is about, in the one language that it has.
    ///
    /// - Parameters:
    ///   - title: The pop-up's.
    ///   - body: The pop-up's.
    ///   - data: What FCM has brought with it.
    /// - Returns: `nil` if it is the pop-up of something else.
    /// - Throws: ``SchemaViolation`` if it is a broadcast that this version cannot read.
    package static func broadcast(title: String, body: String, data: [String: String]) throws -> PhoneBroadcast? {
        guard case .broadcast(var broadcast)? = try BroadcastPushData(data), broadcast.type == .downtime else { return nil }
        broadcast.actionData.translations = [broadcast.language: .init(title: title, msg: body)]
        return broadcast
    }
}
