package import FoundationEssentials
import JSON

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
