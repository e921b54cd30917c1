package import FoundationEssentials
import JSON
package import Schemas
import Time

extension FCMRequest {
    /// The body of the request for one component of a message: the same bytes as ``JSONCoder`` writes for the ``FCMRequest``.
    ///
    /// Fast path for the most frequent request. It writes the common form, to a topic, without options and whole, in a fraction of the
    /// encoder's time. The encoder writes all other forms.
    ///
    /// - Parameter now: As for ``FCMMessage/init(_:of:now:defaults:)``.
    /// - Throws: ``SchemaViolation``, or an encoder's error.
    package static func body(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, defaults: FCMDefaults = FCMDefaults()
    ) throws -> Data {
        guard message.target == .topic, message.draft.options == nil, message.draft.corrects == nil, !message.validateOnly,
            FCMMessage.payloadBytes(component, of: message) <= defaults.payloadLimit.bytes
        else {
            return try JSONCoder.encode(FCMRequest(component, of: message, now: now, defaults: defaults))
        }
        let draft = message.draft
        var json = JSONBytes(capacity: 640 + draft.title.utf8.count + draft.desc.utf8.count + draft.message.utf8.count)
        switch component {
        case .notification:
            json.append(#"{"message":{"android":{"notification":{"sound":"default","tag":"#)
            json.append(message.msiKey)
            json.append("},")
            json.appendPriority(of: message, now: now, defaults)
            json.append(#""apns-collapse-id":"#)
            json.append(message.msiKey)
            json.append(",")
            json.appendExpiry(of: message, now: now, defaults)
            json.append(#""apns-priority":"10","apns-push-type":"alert"},"payload":{"aps":{"sound":"default"}}},"#)
            json.append(#""data":{"msi_key":"#)
            json.append(message.msiKey)
            json.append(#"},"notification":{"body":"#)
            json.append(text: draft.desc)
            json.append(#","title":"#)
            json.append(text: draft.title)
        case .data:
            json.append(#"{"message":{"android":{"#)
            json.appendPriority(of: message, now: now, defaults)
            json.appendExpiry(of: message, now: now, defaults)
            json.append(#""apns-priority":"5","apns-push-type":"background"},"payload":{"aps":{"content-available":1}}},"#)
            json.append(#""data":{"desc":"#)
            json.append(text: draft.desc)
            json.append(#","dist":"#)
            json.append(text: draft.distribution.rawValue)
            json.append(#","message":"#)
            json.append(text: draft.message)
            json.append(#","msi_key":"#)
            json.append(message.msiKey)
            json.append(#","timestamp":"#)
            json.append(text: String(message.timestamp))
            json.append(#","title":"#)
            json.append(text: draft.title)
            json.append(#","topic_key":"#)
            json.append(draft.topicKey)
        }
        json.append(#"},"topic":"#)
        json.append(draft.topicKey)
        json.append("}}")
        return json.data()
    }
}

extension JSONBytes {
    /// The rest of `android`, and the beginning of `apns`.
    fileprivate mutating func appendPriority(of message: RelayMessage, now: UnixMilliseconds, _ defaults: FCMDefaults) {
        let timeToLive = message.timeToLive(from: now, defaults)
        append(message.priority(defaults) == .high ? #""priority":"HIGH","ttl":""# : #""priority":"NORMAL","ttl":""#)
        append(timeToLive.rawValue)
        append(#"s"},"apns":{"headers":{"#)
    }

    fileprivate mutating func appendExpiry(of message: RelayMessage, now: UnixMilliseconds, _ defaults: FCMDefaults) {
        let timeToLive = message.timeToLive(from: now, defaults)
        append(#""apns-expiration":"#)
        append(text: FCMMessage.apnsExpiration(timeToLive, from: now))
        append(",")
    }
}
