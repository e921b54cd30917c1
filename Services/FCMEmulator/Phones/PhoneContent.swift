/// What a message carries as the phone's SDK shows it to the app: Android's own settings laid over the common ones.
struct PhoneContent: Hashable, Sendable {
    /// `high` or `normal`.
    let priority: String
    let collapseKey: String?
    let notification: JSONValue?
    /// Empty where the message has none.
    let data: [JSONValue.Member]

    /// Reads a request's body that was accepted before.
    ///
    /// - Throws: ``GoogleError`` for one that never was.
    init(body: some Collection<UInt8>) throws {
        let request = try FormReader.read(try JSONParser.parse(body), as: .sendRequest)
        self.init(of: request["message"] ?? .null)
    }

    init(of message: JSONValue) {
        let android = message["android"]
        collapseKey = android?["collapse_key"]?.string
        data = (android?["data"] ?? message["data"])?.members ?? []
        notification = Self.merged(message["notification"], android?["notification"])
        // Without a priority of its own, a message that shows something is urgent and one that does not is not.
        priority = android?["priority"]?.string?.lowercased() ?? (notification == nil ? "normal" : "high")
    }

    private static func merged(_ common: JSONValue?, _ android: JSONValue?) -> JSONValue? {
        guard common != nil || android != nil else { return nil }
        let own = android?.members ?? []
        let ownNames = Set(own.map(\.name))
        return .object((common?.members ?? []).filter { !ownNames.contains($0.name) } + own)
    }
}

extension PhoneContent {
    /// One event of a phone's stream, as one line of JSON: what `RemoteMessage` has on Android, under its names.
    ///
    /// - Parameters:
    ///   - name: FCM's name for the message.
    ///   - from: The topic with its prefix, or the sender's id.
    ///   - sent: Unix milliseconds.
    ///   - timeToLive: In seconds.
    func event(name: String, from: String, sent: Int64, timeToLive: Int64) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("messageId", .string(MessageName.id(of: name))),
            .init("from", .string(from)),
            .init("sentTime", .integer(sent)),
            .init("ttl", .integer(timeToLive)),
            .init("priority", .string(priority)),
        ]
        if let notification { members.append(.init("notification", notification)) }
        members.append(.init("data", .object(data)))
        if let collapseKey { members.append(.init("collapseKey", .string(collapseKey))) }
        return .object(members)
    }
}
