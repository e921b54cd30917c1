package import FoundationEssentials
import JSON
import Time

/// Fast path for the payload of `message.relay`, the most frequent command, in its common form: to a topic and without options.
/// ``JSONCoder`` reads and writes all other forms, and reports all errors.
extension RelayMessage {
    package init(payload: Data) throws {
        if let common = payload.withUnsafeBytes({ Self(common: $0) }) {
            self = common
        } else {
            self = try JSONCoder.decodeStrictly(from: payload)
        }
    }

    private init?(common json: UnsafeRawBufferPointer) {
        var (title, desc, message): (String?, String?, String?)
        var (msiKey, topicKey, distribution): (ObjectID?, TopicKey?, Distribution?)
        var (timestamp, ttl, expires): (UnixMilliseconds?, Seconds?, UnixMilliseconds?)
        var components: [Component]?
        var reader = FastReader(json)
        let isRead = reader.object { reader in
            if reader.name("title") { return title.takeOnce(reader.text()) }
            if reader.name("desc") { return desc.takeOnce(reader.text()) }
            if reader.name("message") { return message.takeOnce(reader.text()) }
            if reader.name("msi_key") { return msiKey.takeOnce(reader.characters().flatMap(ObjectID.init(digits:))) }
            if reader.name("topic_key") { return topicKey.takeOnce(reader.characters().flatMap(TopicKey.init(characters:))) }
            if reader.name("distribution") { return distribution.takeOnce(reader.choice()) }
            if reader.name("timestamp") { return timestamp.takeOnce(reader.moment()) }
            if reader.name("ttl") { return ttl.takeOnce(reader.seconds()) }
            if reader.name("expires") { return expires.takeOnce(reader.moment()) }
            if reader.name("components") { return components.takeOnce(reader.choices()) }
            return false
        }
        guard isRead, reader.isAtEnd(), let title, let desc, let message, let msiKey, let topicKey, let distribution,
            let timestamp
        else { return nil }
        self.init(
            msiKey: msiKey, timestamp: timestamp,
            draft: MessageDraft(
                title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution, ttl: ttl),
            expires: expires, components: components)
        // The general decoder names the error.
        guard (try? check()) != nil else { return nil }
    }

    package func payload() throws -> Data {
        guard target == .topic, draft.options == nil, draft.corrects == nil, !validateOnly, project == nil else {
            return try JSONCoder.encode(self)
        }
        var json = JSONBytes(capacity: 384 + draft.title.utf8.count + draft.desc.utf8.count + draft.message.utf8.count)
        json.append(#"{"components":["#)
        for (position, component) in components.enumerated() {
            if position > 0 { json.append(",") }
            json.append(text: component.rawValue)
        }
        json.append(#"],"desc":"#)
        json.append(text: draft.desc)
        json.append(#","distribution":"#)
        json.append(text: draft.distribution.rawValue)
        if let expires {
            json.append(#","expires":"#)
            json.append(expires)
        }
        json.append(#","message":"#)
        json.append(text: draft.message)
        json.append(#","msi_key":"#)
        json.append(msiKey)
        json.append(#","timestamp":"#)
        json.append(timestamp)
        json.append(#","title":"#)
        json.append(text: draft.title)
        json.append(#","topic_key":"#)
        json.append(draft.topicKey)
        if let ttl = draft.ttl {
            json.append(#","ttl":"#)
            json.append(ttl)
        }
        json.append("}")
        return json.data()
    }
}

extension FastReader {
    fileprivate mutating func choices<Choice: ClosedEnum>() -> [Choice]? {
        var choices: [Choice] = []
        choices.reserveCapacity(Choice.allCases.count)
        let isRead = array { reader in
            guard let choice: Choice = reader.choice() else { return false }
            choices.append(choice)
            return true
        }
        return isRead ? choices : nil
    }
}
