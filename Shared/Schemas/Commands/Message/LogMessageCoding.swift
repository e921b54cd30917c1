package import FoundationEssentials
import Base

/// Fast path for the payload of `message.log` in its common form: a message that goes out at once, without options.
/// ``JSONCoder`` reads and writes all other forms, and reports all errors.
extension LogMessage {
    package init(payload: Data) throws {
        if let common = payload.withUnsafeBytes({ Self(common: $0) }) {
            self = common
        } else {
            self = try JSONCoder.decodeStrictly(from: payload)
        }
    }

    private init?(common json: UnsafeRawBufferPointer) {
        var (msiKey, content, names): (ObjectID?, MessageContent?, CubeNames?)
        var (timestamp, expires): (UnixMilliseconds?, UnixMilliseconds?)
        var idempotencyKey: String?
        var reader = FastReader(json)
        let isRead = reader.object { reader in
            if reader.name("draft") { return content.takeOnce(reader.commonContent()) }
            if reader.name("expires") { return expires.takeOnce(reader.moment()) }
            if reader.name("idempotency_key") { return idempotencyKey.takeOnce(reader.text()) }
            if reader.name("msi_key") { return msiKey.takeOnce(reader.characters().flatMap(ObjectID.init(digits:))) }
            if reader.name("names") { return names.takeOnce(reader.cubeNames()) }
            if reader.name("timestamp") { return timestamp.takeOnce(reader.moment()) }
            return false
        }
        guard isRead, reader.isAtEnd(), let msiKey, let content, let names, let timestamp, let expires else { return nil }
        self.init(
            msiKey: msiKey, content: content, timestamp: timestamp, names: names, expires: expires,
            idempotencyKey: idempotencyKey)
        // The general decoder names the error.
        guard (try? content.check()) != nil, (try? names.check()) != nil, (try? check()) != nil else { return nil }
    }

    package func payload() throws -> Data {
        guard approval == nil, content.isCommon else { return try JSONCoder.encode(self) }
        var json = JSONBytes(capacity: 640 + content.title.utf8.count + content.desc.utf8.count + content.message.utf8.count)
        json.append(#"{"draft":"#)
        json.append(common: content)
        json.append(#","expires":"#)
        json.append(expires)
        if let idempotencyKey {
            json.append(#","idempotency_key":"#)
            json.append(text: idempotencyKey)
        }
        json.append(#","msi_key":"#)
        json.append(msiKey)
        json.append(#","names":{"area":"#)
        json.append(text: names.area)
        json.append(#","channel":"#)
        json.append(text: names.channel)
        json.append(#","subject":"#)
        json.append(text: names.subject)
        json.append(#"},"timestamp":"#)
        json.append(timestamp)
        json.append("}")
        return json.data()
    }

    package static func reply(payload: Data) throws -> Reply {
        payload.elementsEqual(empty) ? Reply(known: nil) : try JSONCoder.decode(from: payload)
    }

    package static func payload(of reply: Reply) throws -> Data {
        reply.known == nil ? empty : try JSONCoder.encode(reply)
    }

    /// The reply to a new message.
    private static let empty = Data("{}".utf8)
}

extension MessageContent {
    /// Whether it has nothing but what every message has, and perhaps a time to live.
    fileprivate var isCommon: Bool {
        sendAt == nil && options == nil && delay == nil && drill == nil && follows == nil && correction == nil && template == nil
            && values == nil
    }
}

extension JSONBytes {
    fileprivate mutating func append(common content: MessageContent) {
        append(#"{"desc":"#)
        append(text: content.desc)
        append(#","distribution":"#)
        append(text: content.distribution.rawValue)
        append(#","message":"#)
        append(text: content.message)
        append(#","title":"#)
        append(text: content.title)
        append(#","topic_key":"#)
        append(content.topicKey)
        if let ttl = content.ttl {
            append(#","ttl":"#)
            append(ttl)
        }
        append("}")
    }
}

extension FastReader {
    fileprivate mutating func commonContent() -> MessageContent? {
        var (title, desc, message): (String?, String?, String?)
        var (topicKey, distribution, ttl): (TopicKey?, Distribution?, Seconds?)
        let isRead = object { reader in
            if reader.name("desc") { return desc.takeOnce(reader.text()) }
            if reader.name("distribution") { return distribution.takeOnce(reader.choice()) }
            if reader.name("message") { return message.takeOnce(reader.text()) }
            if reader.name("title") { return title.takeOnce(reader.text()) }
            if reader.name("topic_key") { return topicKey.takeOnce(reader.characters().flatMap(TopicKey.init(characters:))) }
            if reader.name("ttl") { return ttl.takeOnce(reader.seconds()) }
            return false
        }
        guard isRead, let title, let desc, let message, let topicKey, let distribution else { return nil }
        return MessageContent(
            title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution, ttl: ttl)
    }

    fileprivate mutating func cubeNames() -> CubeNames? {
        var (channel, area, subject): (String?, String?, String?)
        let isRead = object { reader in
            if reader.name("area") { return area.takeOnce(reader.text()) }
            if reader.name("channel") { return channel.takeOnce(reader.text()) }
            return reader.name("subject") && subject.takeOnce(reader.text())
        }
        guard isRead, let channel, let area, let subject else { return nil }
        return CubeNames(channel: channel, area: area, subject: subject)
    }
}
