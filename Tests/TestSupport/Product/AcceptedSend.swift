import FoundationEssentials

/// One component of one message. A phone drops a second copy of it.
package struct SentComponent: Hashable, Sendable, CustomStringConvertible {
    package let msiKey: String
    /// `notification` or `data`.
    package let name: String

    package init(msiKey: String, name: String) {
        self.msiKey = msiKey
        self.name = name
    }

    package var description: String { "\(msiKey)/\(name)" }
}

/// A send in the archive of the emulator.
package struct AcceptedSend: Hashable, Sendable {
    package let component: SentComponent
    /// FCM's name.
    package let name: String
    /// When FCM accepted it, in Unix milliseconds.
    package let received: Int64
    /// When the relay computed its remaining time to live, in whole Unix seconds. `nil` if there was none left.
    package let taken: Int64?

    package init(component: SentComponent, name: String, received: Int64, taken: Int64?) {
        self.component = component
        self.name = name
        self.received = received
        self.taken = taken
    }
}

extension AcceptedSend: Decodable {
    private struct Document: Decodable {
        struct Body: Decodable {
            let message: Content
        }

        struct Content: Decodable {
            let data: [String: String]
            let notification: [String: String]?
            let android: Android
            let apns: APNs
        }

        struct Android: Decodable {
            let ttl: String
        }

        struct APNs: Decodable {
            let headers: [String: String]
        }

        let name: String
        let receivedAt: Int64
        let body: Body

        private enum CodingKeys: String, CodingKey {
            case name, body
            case receivedAt = "received_at"
        }
    }

    package init(from decoder: any Decoder) throws {
        let document = try Document(from: decoder)
        let content = document.body.message
        guard let msiKey = content.data["msi_key"], content.android.ttl.hasSuffix("s"),
            let timeToLive = Int64(content.android.ttl.dropLast()),
            let expiration = content.apns.headers["apns-expiration"].flatMap({ Int64($0) })
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(document.name) is not what the relay sends"))
        }
        self.init(
            component: SentComponent(msiKey: msiKey, name: content.notification == nil ? "data" : "notification"),
            name: document.name, received: document.receivedAt, taken: expiration == 0 ? nil : expiration - timeToLive)
    }
}

extension FCMServer {
    /// The accepted sends of components, to one topic or to all, in order.
    package func acceptedComponents(to topic: String? = nil) async throws -> [AcceptedSend] {
        try JSONDecoder().decode([AcceptedSend].self, from: try await archive(of: topic))
    }
}
