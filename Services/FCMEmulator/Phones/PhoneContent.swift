import Base
import Schemas

/// A message's content as the phone's SDK shows it to the app: the platform's own settings override the common ones.
struct PhoneContent: Hashable, Sendable {
    let priority: Priority
    let collapseKey: String?
    let notification: JSONValue?
    /// Empty if the message has none.
    let data: [JSONValue.Member]

    enum Priority: String, Sendable {
        case high, normal
    }

    /// Reads the body of an accepted request.
    ///
    /// - Throws: ``GoogleError`` for a body that cannot have been accepted.
    init(body: some Collection<UInt8>, on platform: Platform) throws {
        let request = try FormReader.read(try JSONValue(parsing: body, rules: .google), as: .sendRequest)
        let message = request["message"] ?? .null
        switch platform {
        case .android: self.init(forAndroid: message)
        case .ios: self.init(forIOS: message)
        }
    }

    private init(forAndroid message: JSONValue) {
        let android = AndroidConfig(of: message)
        collapseKey = android?.collapseKey
        data = (android?.data ?? message["data"])?.members ?? []
        notification = Self.merged(message["notification"], android?.notification)
        priority = android?.priority.map { $0 == "HIGH" ? .high : .normal } ?? Self.defaultPriority(of: notification)
    }

    private init(forIOS message: JSONValue) {
        let apns = message["apns"]
        let payload = apns?["payload"]
        collapseKey = apns?["headers"]?.header("apns-collapse-id")
        let custom = payload?.members?.filter { $0.name != "aps" } ?? []
        data = (message["data"]?.members ?? []) + custom.map { .init($0.name, .string($0.value.string ?? $0.value.text)) }
        notification = Self.merged(message["notification"], payload?["aps"]?.shown)
        priority =
            apns?["headers"]?.header("apns-priority").map { $0 == "10" ? .high : .normal }
            ?? Self.defaultPriority(of: notification)
    }

    /// The default priority: high for a message that shows something, otherwise normal.
    private static func defaultPriority(of notification: JSONValue?) -> Priority { notification == nil ? .normal : .high }

    private static func merged(_ common: JSONValue?, _ own: JSONValue?) -> JSONValue? {
        guard common != nil || own != nil else { return nil }
        let own = own?.members ?? []
        let ownNames = Set(own.map(\.name))
        return .object((common?.members ?? []).filter { !ownNames.contains($0.name) } + own)
    }
}

extension JSONValue {
    /// The part of an `aps` that the user sees, as a notification; `nil` if the `aps` only wakes the app.
    fileprivate var shown: JSONValue? {
        var members: [Member] = []
        switch self["alert"] {
        case .string(let text): members.append(.init("body", .string(text)))
        case let alert: members += alert?.members ?? []
        }
        members += self.members?.filter { ["badge", "category", "sound"].contains($0.name) } ?? []
        return members.isEmpty ? nil : .object(members)
    }
}

extension PhoneContent {
    /// One event of a phone's stream, as one line of JSON with the fields of Android's `RemoteMessage`.
    ///
    /// - Parameters:
    ///   - name: FCM's name for the message.
    ///   - from: The topic with its prefix, or the sender's id.
    ///   - isDemoted: Whether the phone treats it as normal priority, regardless of the priority it was sent with.
    func event(name: String, from: String, sent: UnixMilliseconds, timeToLive: Seconds, isDemoted: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("messageId", .string(MessageName.id(of: name))),
            .init("from", .string(from)),
            .init("sentTime", .integer(sent.rawValue)),
            .init("ttl", .integer(timeToLive.rawValue)),
            .init("priority", .string((isDemoted ? .normal : priority).rawValue)),
        ]
        if isDemoted { members.append(.init("originalPriority", .string(priority.rawValue))) }
        if let notification { members.append(.init("notification", notification)) }
        members.append(.init("data", .object(data)))
        if let collapseKey { members.append(.init("collapseKey", .string(collapseKey))) }
        return .object(members)
    }
}
