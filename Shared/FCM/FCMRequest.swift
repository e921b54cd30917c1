package import FoundationEssentials
package import Base
package import Schemas

/// The body of FCM's `POST /v1/projects/{project}/messages:send`: `{"message":{…},"validate_only":true}`.
package enum FCMRequest {
    /// Maps one component of a message (seed, "Message Format"). `Services/FCMRelay/API.md` has a table, "The seed's format".
    ///
    /// It writes the bytes itself, in a fraction of an encoder's time. Names are sorted, as an encoder's.
    ///
    /// - Parameter now: The time of sending. FCM keeps the message for phones that are off until it expires.
    package static func body(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, defaults: FCMDefaults = FCMDefaults()
    ) -> Data {
        let content = message.content
        let options = content.options
        let hasPopup = component == .notification
        let image = hasPopup ? options?.image : nil
        // FCM keeps only the newest message of a key. With one key for both, an Alert's data would replace its pop-up.
        let collapseKey = options?.collapseKey.map { hasPopup ? $0 : $0 + ".data" }
        // Names the pop-up on the phone. Then a correction takes the place of the message that it corrects, and a message that is
        // sent twice shows once.
        let popup = content.corrects ?? message.msiKey
        let timeToLive = message.timeToLive(from: now, defaults)
        let payload = FCMPayload(
            component, of: content, at: message.timestamp, within: defaults.payloadLimit.bytes(to: message.target))

        var json = JSONBytes(capacity: 640 + payload.bytes)
        json.append("{")
        json.object("message") { json in
            json.object("android") { json in
                json.member("collapse_key", collapseKey)
                if hasPopup {
                    json.object("notification") { json in
                        json.member("channel_id", options?.android?.channelID)
                        json.member("sound", "default")
                        json.member("tag", popup)
                    }
                }
                json.member("priority", message.priority(defaults) == .high ? "HIGH" : "NORMAL")
                json.member("ttl", "\(timeToLive)s")
            }
            json.object("apns") { json in
                if let image { json.object("fcm_options") { $0.member("image", image) } }
                json.object("headers") { json in
                    if hasPopup, collapseKey == nil {
                        json.member("apns-collapse-id", popup)
                    } else {
                        json.member("apns-collapse-id", collapseKey)
                    }
                    json.member("apns-expiration", apnsExpiration(timeToLive, from: now))
                    json.member("apns-priority", hasPopup ? "10" : "5")
                    json.member("apns-push-type", hasPopup ? "alert" : "background")
                }
                json.object("payload") { json in
                    json.object("aps") { json in
                        json.member("category", hasPopup ? options?.apns?.category : nil)
                        if !hasPopup { json.memberOne("content-available") }
                        // Lets the app's service extension fetch the picture before the pop-up is shown.
                        if image != nil { json.memberOne("mutable-content") }
                        json.member("sound", hasPopup ? "default" : nil)
                    }
                }
            }
            if case .condition(let condition) = message.target { json.member("condition", condition) }
            json.object("data") { $0.members(payload.data, of: message) }
            if let label = options?.analyticsLabel { json.object("fcm_options") { $0.member("analytics_label", label) } }
            if hasPopup { json.object("notification") { $0.members(payload.popup, of: message) } }
            if case .token(let token) = message.target { json.member("token", token) }
            if message.target == .topic { json.member("topic", content.topicKey) }
        }
        if message.validateOnly {
            json.name("validate_only")
            json.append("true")
        }
        json.append("}")
        return json.data()
    }

    /// When APNs discards a message, in Unix seconds. 0 means that it is not stored.
    static func apnsExpiration(_ timeToLive: Seconds, from now: UnixMilliseconds) -> String {
        timeToLive == 0 ? "0" : String(now.seconds + timeToLive.rawValue)
    }
}

extension RelayMessage {
    /// How long FCM keeps it for phones that are off: its time to live, but not past its expiry.
    fileprivate func timeToLive(from now: UnixMilliseconds, _ defaults: FCMDefaults) -> Seconds {
        let remaining = expires.map { max(0, Seconds($0 - now)) } ?? defaultTimeToLive(defaults)
        return min(remaining, content.ttl ?? maxTimeToLive, maxTimeToLive)
    }

    /// The default if neither the command nor the message sets an expiry.
    private func defaultTimeToLive(_ defaults: FCMDefaults) -> Seconds {
        content.ttl == nil && content.distribution == .alert ? defaults.alertTimeToLive : maxTimeToLive
    }

    /// The priority of both components of an Alert is always high, since one of them shows something.
    fileprivate func priority(_ defaults: FCMDefaults) -> FCMDefaults.Priority {
        content.distribution == .alert ? .high : defaults.informationPriority
    }
}

/// The members of the innermost object that is open.
extension JSONBytes {
    /// Begins a member. Only an object's beginning ends with `{`, since every text ends with a quote.
    fileprivate mutating func name(_ name: StaticString) {
        append(bytes.last == UInt8(ascii: "{") ? "\"" : ",\"")
        append(name)
        append("\":")
    }

    fileprivate mutating func object(_ name: StaticString, _ members: (inout JSONBytes) -> Void) {
        self.name(name)
        append("{")
        members(&self)
        append("}")
    }

    /// Appends nothing for a text of `nil`.
    fileprivate mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        append(text: text)
    }

    fileprivate mutating func member(_ name: StaticString, _ id: ObjectID) {
        self.name(name)
        append(id)
    }

    fileprivate mutating func member(_ name: StaticString, _ key: TopicKey) {
        self.name(name)
        append(key)
    }

    /// A member with the number 1.
    fileprivate mutating func memberOne(_ name: StaticString) {
        self.name(name)
        append("1")
    }

    fileprivate mutating func members(_ fields: [FCMPayload.Field], of message: RelayMessage) {
        for field in fields {
            switch field.value {
            case .text(let text): member(field.name, text)
            case .id(let id): member(field.name, id)
            case .topicKey(let key): member(field.name, key)
            case .msiKey: member(field.name, message.msiKey)
            }
        }
    }
}

/// How the relay shapes messages: the values that a message does not set, and FCM's limit.
package struct FCMDefaults: Hashable, Sendable {
    /// FCM's priorities for Android.
    package enum Priority: String, CaseIterable, Sendable {
        /// Delivered at once, even to a sleeping phone.
        case high
        /// Delivered when the phone next wakes up.
        case normal
    }

    /// How long FCM keeps an Alert for phones that are off. A phone that was off for weeks must not show it.
    package var alertTimeToLive: Seconds = 86_400
    /// The priority of Information, which shows nothing. The seed sends it with high priority, but Android demotes apps whose
    /// high-priority messages show nothing.
    package var informationPriority = Priority.high

    /// Texts are left out of a message that does not fit (``FCMPayload``).
    package var payloadLimit = PayloadLimit.topic

    package init() {}
}

/// FCM's answer to a message that it has accepted: `{"name":"projects/…/messages/…"}`.
package struct FCMAcceptance: Decodable, Sendable {
    /// FCM's name for the message.
    package let name: String

    /// Reads an answer's body; `nil` if it has no name.
    package init?(body: Data) {
        guard let read = try? JSONCoder.decode(Self.self, from: body) else { return nil }
        self = read
    }
}
