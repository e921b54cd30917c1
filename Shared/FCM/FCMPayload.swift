package import Base
package import Schemas

/// What the phone's app gets of one component, and what FCM's limit counts: the names and values of its data and of its pop-up.
///
/// A text of 1,500 characters may have 6,000 bytes, and FCM refuses messages of more than 4,096. So data that does not fit leaves
/// out `message`, then also `desc`, and names them in `omitted`; the phone fetches them from the hub (`POST /message/since`). A
/// pop-up's body is cut.
package struct FCMPayload: Sendable {
    /// A value. In the request each is a string.
    enum Value: Sendable {
        case text(String)
        case id(ObjectID)
        case topicKey(TopicKey)
        /// The key of the message itself.
        case msiKey

        fileprivate var bytes: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .id, .msiKey: 24
            case .topicKey: 74
            }
        }
    }

    struct Field: Sendable {
        let name: StaticString
        fileprivate(set) var value: Value
    }

    /// Sorted by name.
    private(set) var data: [Field]
    /// Sorted by name; empty for a component without a pop-up.
    private(set) var popup: [Field] = []

    /// The end of a body that was cut.
    private static let ellipsis = "…"

    /// - Parameters:
    ///   - timestamp: The message's.
    ///   - limit: In bytes. If not even the smallest form fits, that is the result.
    package init(
        _ component: Component, of content: MessageContent, at timestamp: UnixMilliseconds, within limit: Int = .max
    ) {
        switch component {
        case .notification:
            data = [Field(name: "msi_key", value: .msiKey)]
            popup.append("body", .text(content.desc))
            popup.append("image", (content.options?.image).map { .text($0) })
            popup.append("title", .text(content.title))
            if bytes > limit {
                let rest = bytes - content.desc.utf8.count
                let kept = content.desc.prefix(bytes: limit - rest - Self.ellipsis.utf8.count)
                popup[0].value = .text(kept + Self.ellipsis)
            }
        case .data:
            data = Self.data(of: content, at: timestamp)
            if bytes > limit { data = Self.data(of: content, at: timestamp, omitting: "message") }
            if bytes > limit { data = Self.data(of: content, at: timestamp, omitting: "message,desc") }
        }
    }

    private static func data(
        of content: MessageContent, at timestamp: UnixMilliseconds, omitting omitted: String? = nil
    ) -> [Field] {
        var data: [Field] = []
        data.reserveCapacity(10)
        data.append("corrects", content.corrects.map { .id($0) })
        data.append("desc", omitted == "message,desc" ? nil : .text(content.desc))
        data.append("dist", .text(content.distribution.rawValue))
        data.append("link", (content.options?.link).map { .text($0) })
        data.append("message", omitted == nil ? .text(content.message) : nil)
        data.append("msi_key", .msiKey)
        data.append("omitted", omitted.map { .text($0) })
        data.append("timestamp", .text(String(timestamp)))
        data.append("title", .text(content.title))
        data.append("topic_key", .topicKey(content.topicKey))
        return data
    }

    /// No payload of a message has more bytes.
    static func maxBytes(of content: MessageContent) -> Int {
        let texts = content.title.utf8.count + content.desc.utf8.count + content.message.utf8.count
        let options = (content.options?.link?.utf8.count ?? 0) + (content.options?.image?.utf8.count ?? 0)
        return texts + options + maxOverhead
    }

    /// More than the names of all fields, and the values that are not texts of the sender.
    private static let maxOverhead = 320

    /// The size that FCM's limit applies to.
    package var bytes: Int {
        func sum(_ fields: [Field]) -> Int { fields.reduce(0) { $0 + $1.name.utf8CodeUnitCount + $1.value.bytes } }
        return sum(data) + sum(popup)
    }
}

extension [FCMPayload.Field] {
    /// Appends nothing for a value of `nil`.
    fileprivate mutating func append(_ name: StaticString, _ value: FCMPayload.Value?) {
        guard let value else { return }
        append(FCMPayload.Field(name: name, value: value))
    }
}

extension String {
    /// As many whole characters as fit, without white space at the end.
    ///
    /// - Parameter bytes: The room; none if it is negative.
    fileprivate func prefix(bytes: Int) -> String {
        var (end, used) = (startIndex, 0)
        for index in indices {
            used += self[index].utf8.count
            guard used <= bytes else { break }
            end = self.index(after: index)
        }
        var kept = self[..<end]
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return String(kept)
    }
}

/// FCM's limit on a message's payload, in bytes.
///
/// FCM permanently refuses a message of more than 4,096 bytes, to topics and to phones. FCM's error reference also names 2,048
/// bytes for topics, but FCM was not seen to enforce that.
package struct PayloadLimit: Hashable, Sendable {
    /// For messages to topics and conditions.
    package let bytes: Int

    package init(bytes: Int) {
        self.bytes = bytes
    }

    /// FCM's limit for topics.
    package static let topic = PayloadLimit(bytes: 4_096)
    /// FCM's limit for a single phone.
    private static let phoneBytes = 4_096

    /// The limit for a message to a target.
    func bytes(to target: RelayTarget) -> Int {
        if case .token = target { Self.phoneBytes } else { bytes }
    }

    /// Why a message is too large even without the texts that can be left out (``FCMPayload``), or `nil`. With FCM's own limit no
    /// valid message is.
    ///
    /// - Parameter timestamp: The message's, which is a part of its data.
    package func violation(
        by content: MessageContent, at timestamp: UnixMilliseconds, to target: RelayTarget = .topic
    ) -> SchemaViolation? {
        let most = bytes(to: target)
        // Nearly all messages are far below the limit.
        guard FCMPayload.maxBytes(of: content) > most else { return nil }
        let largest =
            content.distribution.components.map {
                FCMPayload($0, of: content, at: timestamp, within: most).bytes
            }.max() ?? 0
        guard largest > most else { return nil }
        return SchemaViolation(
            field: "title",
            problem: "also without desc and message, it makes an FCM payload of \(largest) bytes, \(largest - most) more than "
                + "the \(most) that a message may have")
    }
}
