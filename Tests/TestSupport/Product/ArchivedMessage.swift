import FoundationEssentials
import NIOHTTP1

/// A message in the archive, with its relay record.
package struct ArchivedMessage: Hashable, Sendable {
    package struct Component: Hashable, Sendable {
        package let component: SentComponent
        package let state: String
        /// FCM's name, once it is accepted.
        package let name: String?
        /// The code of its error, if there is one.
        package let error: String?
        /// `permanent`, `retryable` or `expired`, if there is an error.
        package let errorClass: String?

        package init(
            component: SentComponent, state: String, name: String? = nil, error: String? = nil, errorClass: String? = nil
        ) {
            self.component = component
            self.state = state
            self.name = name
            self.error = error
            self.errorClass = errorClass
        }
    }

    package let msiKey: String
    /// The key of its subject.
    package let topicKey: String
    /// When it was due, in Unix milliseconds, like all times here.
    package let due: Int64
    package let expires: Int64
    package let state: String
    /// How often a relay has taken it.
    package let attempts: Int
    /// The time of the next attempt by any transport; `nil` once it has ended.
    package let nextAttempt: Int64?
    package let leaseEnd: Int64?
    /// Its components for FCM.
    package let components: [Component]
    /// The state of its component for browsers; `nil` if it has none.
    package let webpush: String?

    package init(
        msiKey: String, topicKey: String = "", due: Int64, expires: Int64, state: String, attempts: Int = 1,
        nextAttempt: Int64? = nil, leaseEnd: Int64? = nil, components: [Component], webpush: String? = nil
    ) {
        self.msiKey = msiKey
        self.topicKey = topicKey
        self.due = due
        self.expires = expires
        self.state = state
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.leaseEnd = leaseEnd
        self.components = components
        self.webpush = webpush
    }

    package var isFinal: Bool { nextAttempt == nil }
}

extension ArchivedMessage: Decodable {
    private struct Document: Decodable {
        struct Relay: Decodable {
            let state: String
            let attempts: Int
            let nextAttempt: Int64?
            let webpushAttempt: Int64?
            let lease: Lease?
            let components: [Component]

            private enum CodingKeys: String, CodingKey {
                case state, attempts, lease, components
                case nextAttempt = "next_attempt"
                case webpushAttempt = "webpush_attempt"
            }
        }

        struct Lease: Decodable {
            let until: Int64
        }

        struct Component: Decodable {
            struct Failure: Decodable {
                let `class`: String
                let code: String
            }

            let component: String
            let state: String
            let name: String?
            let error: Failure?
        }

        let msiKey: String
        let topicKey: String
        let timestamp: Int64
        let sendAt: Int64?
        /// In seconds.
        let delay: Int64?
        let expires: Int64
        let relay: Relay

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
            case topicKey = "topic_key"
            case sendAt = "send_at"
            case timestamp, delay, expires, relay
        }
    }

    /// The name of the component for browsers.
    private static let webpushName = "webpush"

    package init(from decoder: any Decoder) throws {
        let document = try Document(from: decoder)
        let relay = document.relay
        self.init(
            msiKey: document.msiKey, topicKey: document.topicKey,
            due: max(document.timestamp + (document.delay ?? 0) * 1_000, document.sendAt ?? 0), expires: document.expires,
            state: relay.state, attempts: relay.attempts,
            nextAttempt: relay.nextAttempt.map { min($0, relay.webpushAttempt ?? $0) }, leaseEnd: relay.lease?.until,
            components: relay.components.filter { $0.component != Self.webpushName }.map { component in
                Component(
                    component: SentComponent(msiKey: document.msiKey, name: component.component), state: component.state,
                    name: component.name, error: component.error?.code, errorClass: component.error?.class)
            }, webpush: relay.components.first { $0.component == Self.webpushName }?.state)
    }
}

extension Portal {
    private struct Page: Decodable {
        let messages: [ArchivedMessage]
        let next: String?
    }

    /// All messages of the archive, or those to one subject, newest first.
    package func archive(of subject: SubjectPath? = nil) async throws -> [ArchivedMessage] {
        var messages: [ArchivedMessage] = []
        var next: String? = "/message?limit=200" + (subject.map { "&subject=\($0.subject)" } ?? "")
        while let path = next {
            let page: Page = try await get(path)
            messages += page.messages
            next = page.next
        }
        return messages
    }

    /// One message of the archive.
    package func archived(_ msiKey: String) async throws -> ArchivedMessage {
        try await get("/message/\(msiKey)")
    }

    private func get<Document: Decodable>(_ path: String) async throws -> Document {
        let answer = try await call(.GET, path)
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return try JSONDecoder().decode(Document.self, from: answer.body)
    }
}
