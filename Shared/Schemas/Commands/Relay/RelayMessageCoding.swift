package import FoundationEssentials
import Base

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
            content: MessageContent(
                title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution, ttl: ttl),
            expires: expires, components: components)
        // The general decoder names the error.
        guard (try? check()) != nil else { return nil }
    }

    package func payload() throws -> Data {
        guard target == .topic, content.options == nil, content.corrects == nil, !validateOnly, project == nil else {
            return try JSONCoder.encode(self)
        }
        var json = JSONBytes(capacity: 384 + content.title.utf8.count + content.desc.utf8.count + content.message.utf8.count)
        json.append(#"{"components":["#)
        for (position, component) in components.enumerated() {
            if position > 0 { json.append(",") }
            json.append(text: component.rawValue)
        }
        json.append(#"],"desc":"#)
        json.append(text: content.desc)
        json.append(#","distribution":"#)
        json.append(text: content.distribution.rawValue)
        if let expires {
            json.append(#","expires":"#)
            json.append(expires)
        }
        json.append(#","message":"#)
        json.append(text: content.message)
        json.append(#","msi_key":"#)
        json.append(msiKey)
        json.append(#","timestamp":"#)
        json.append(timestamp)
        json.append(#","title":"#)
        json.append(text: content.title)
        json.append(#","topic_key":"#)
        json.append(content.topicKey)
        if let ttl = content.ttl {
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

/// Fast path for the reply if FCM has accepted every component.
extension RelayMessage {
    package static func reply(payload: Data) throws -> Reply {
        try payload.withUnsafeBytes { Reply(common: $0) } ?? JSONCoder.decode(from: payload)
    }

    package static func payload(of reply: Reply) throws -> Data {
        var json = JSONBytes(capacity: 32 + 160 * reply.components.count)
        json.append(#"{"components":["#)
        for (position, outcome) in reply.components.enumerated() {
            guard case .success(let name) = outcome.result else { return try JSONCoder.encode(reply) }
            if position > 0 { json.append(",") }
            json.append(#"{"component":"#)
            json.append(text: outcome.component.rawValue)
            json.append(#","name":"#)
            json.append(text: name)
            json.append("}")
        }
        json.append("]}")
        return json.data()
    }
}

extension RelayMessage.Reply {
    fileprivate init?(common json: UnsafeRawBufferPointer) {
        var outcomes: [ComponentOutcome]?
        var reader = FastReader(json)
        let isRead = reader.object { reader in
            reader.name("components") && outcomes.takeOnce(reader.outcomes())
        }
        guard isRead, reader.isAtEnd(), let outcomes else { return nil }
        self.init(components: outcomes)
    }
}

extension FastReader {
    fileprivate mutating func outcomes() -> [ComponentOutcome]? {
        var outcomes: [ComponentOutcome] = []
        outcomes.reserveCapacity(Component.allCases.count)
        let isRead = array { reader in
            var component: Component?
            var accepted: String?
            let isRead = reader.object { reader in
                if reader.name("component") { return component.takeOnce(reader.choice()) }
                return reader.name("name") && accepted.takeOnce(reader.text())
            }
            guard isRead, let component, let accepted else { return false }
            outcomes.append(ComponentOutcome(component: component, result: .success(accepted)))
            return true
        }
        return isRead ? outcomes : nil
    }
}
