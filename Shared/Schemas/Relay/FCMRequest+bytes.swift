package import FoundationEssentials

extension FCMRequest {
    /// The body of the request for one component of a message: what ``SchemaJSON`` makes of the ``FCMRequest``, to the byte.
    ///
    /// A relay makes nothing as often as these. The common form, to a topic and without options, is written here in a
    /// fraction of the time that it takes to put the parts together and have them encoded; all others are.
    ///
    /// - Parameter now: Unix milliseconds, as for ``FCMMessage/init(_:of:now:)``.
    /// - Throws: ``SchemaViolation``, or an encoder's error.
    package static func body(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds
    ) throws -> Data {
        guard message.target == .topic, message.draft.options == nil, !message.validateOnly else {
            return try SchemaJSON.encode(FCMRequest(component, of: message, now: now))
        }
        let draft = message.draft
        let topic = draft.topicKey.description
        var json: [UInt8] = []
        json.reserveCapacity(640 + draft.title.utf8.count + draft.desc.utf8.count + draft.message.utf8.count)
        switch component {
        case .notification:
            json.appendLiteral(#"{"message":{"android":{"notification":{"sound":"default"},"#)
            json.appendTimes(of: message, now: now)
            json.appendLiteral(#""apns-priority":"10","apns-push-type":"alert"},"payload":{"aps":{"sound":"default"}}},"#)
            json.appendLiteral(#""data":{"msi_key":"#)
            json.appendJSON(message.msiKey.description)
            json.appendLiteral(#"},"notification":{"body":"#)
            json.appendJSON(draft.desc)
            json.appendLiteral(#","title":"#)
            json.appendJSON(draft.title)
        case .data:
            json.appendLiteral(#"{"message":{"android":{"#)
            json.appendTimes(of: message, now: now)
            json.appendLiteral(#""apns-priority":"5","apns-push-type":"background"},"payload":{"aps":{"content-available":1}}},"#)
            json.appendLiteral(#""data":{"desc":"#)
            json.appendJSON(draft.desc)
            json.appendLiteral(#","dist":"#)
            json.appendJSON(draft.distribution.rawValue)
            json.appendLiteral(#","message":"#)
            json.appendJSON(draft.message)
            json.appendLiteral(#","msi_key":"#)
            json.appendJSON(message.msiKey.description)
            json.appendLiteral(#","timestamp":"#)
            json.appendJSON(String(message.timestamp))
            json.appendLiteral(#","title":"#)
            json.appendJSON(draft.title)
            json.appendLiteral(#","topic_key":"#)
            json.appendJSON(topic)
        }
        json.appendLiteral(#"},"topic":"#)
        json.appendJSON(topic)
        json.appendLiteral("}}")
        return Data(json)
    }
}

extension [UInt8] {
    /// The rest of `android`, and `apns` up to when it expires.
    fileprivate mutating func appendTimes(of message: RelayMessage, now: UnixMilliseconds) {
        let timeToLive = message.timeToLive(from: now)
        appendLiteral(#""priority":"HIGH","ttl":""#)
        append(contentsOf: String(timeToLive).utf8)
        appendLiteral(#"s"},"apns":{"headers":{"apns-expiration":"#)
        appendJSON(FCMMessage.apnsExpiration(timeToLive, from: now))
        appendLiteral(",")
    }
}
