import Base
package import Schemas

/// The body of `POST /app/push/subscriptions`: a browser's `PushSubscription`, and what it is to get.
struct SubscriptionBody: Codable, Checked, Sendable {
    /// The browser's keys, as its `PushSubscription` has them.
    struct Keys: Codable, Checked, Sendable {
        let p256dh: String
        let auth: Secret

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case p256dh, auth
        }

        func check() throws(SchemaViolation) {
            try SubscriptionChange.key.check(p256dh, CodingKeys.p256dh)
            try SubscriptionChange.key.check(auth.text, CodingKeys.auth)
        }
    }

    let endpoint: Secret
    let keys: Keys
    let alerts: [TopicKey]
    let information: [TopicKey]
    /// A language tag; by default English.
    let language: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case endpoint, keys, alerts, information, language
    }

    func check() throws(SchemaViolation) {
        try SubscriptionChange.endpoint.check(endpoint.text, CodingKeys.endpoint)
        try SubscriptionChange.check(alerts, CodingKeys.alerts)
        try SubscriptionChange.check(information, CodingKeys.information)
        try SubscriptionChange.language.check(language, CodingKeys.language)
    }

    /// - Parameter app: The app's URL.
    func command(app: String) -> AddSubscription {
        AddSubscription(
            endpoint: endpoint, p256dh: keys.p256dh, auth: keys.auth,
            subjects: SubscribedSubjects(alerts: alerts, information: information), language: language, app: app)
    }
}

/// The body of `PUT /app/push/subscriptions/:id`.
struct SubscriptionChange: Codable, Checked, Sendable {
    let alerts: [TopicKey]
    let information: [TopicKey]
    /// Without it the language stays.
    let language: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case alerts, information, language
    }

    func check() throws(SchemaViolation) {
        try Self.check(alerts, CodingKeys.alerts)
        try Self.check(information, CodingKeys.information)
        try Self.language.check(language, CodingKeys.language)
    }

    func command(for id: ObjectID, secret: Secret) -> ChangeSubscription {
        ChangeSubscription(
            id: id, secret: secret, subjects: SubscribedSubjects(alerts: alerts, information: information), language: language)
    }
}

extension SubscriptionChange {
    /// The maximum number of topic keys in a list: as many as fit into a request's body.
    private static let maxTopics = 800

    // The Web Push service checks the form.
    fileprivate static let endpoint = TextLimits(max: 2_048)
    fileprivate static let key = TextLimits(max: 200)
    fileprivate static let language = TextLimits(max: 35, lettersDigitsAnd: "-")

    fileprivate static func check(_ topics: [TopicKey], _ field: some CodingKey) throws(SchemaViolation) {
        guard topics.count <= maxTopics else {
            throw SchemaViolation(
                field, "expected at most \(maxTopics) topic keys, found \(topics.count)", limit: .range(0...Int64(maxTopics)))
        }
    }
}

/// The body of `POST /app/push/subscriptions/:id/proof`.
struct SubscriptionProof: Codable, Checked, Sendable {
    /// The code of the first push.
    let code: Secret

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code
    }

    func check() throws(SchemaViolation) {
        try TextLimits(max: 200).check(code.text, CodingKeys.code)
    }
}

extension SubscriptionBody: HasExample {
    static var example: SubscriptionBody {
        SubscriptionBody(
            endpoint: Secret("https://updates.push.services.mozilla.com/wpush/v2/gAAAAABqY3"),
            keys: Keys(
                p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                auth: Secret("BTBZMqHH6r4Tts7J_aSIgg")),
            alerts: [.exampleTopic], information: [], language: "en")
    }
}

extension SubscriptionChange: HasExample {
    static var example: SubscriptionChange { SubscriptionChange(alerts: [.exampleTopic], information: [], language: "en") }
}

extension SubscriptionProof: HasExample {
    static var example: SubscriptionProof { SubscriptionProof(code: Secret("pH2cXoY9m3kqv0sT7wZ1bN4dF6gJ8hL5rE2uC9aVxQM")) }
}

extension ReadWebPushKey.Reply: HasExample {
    package static var example: ReadWebPushKey.Reply {
        ReadWebPushKey.Reply(key: "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs")
    }
}

extension AddSubscription.Reply: HasExample {
    package static var example: AddSubscription.Reply {
        AddSubscription.Reply(
            id: TopicKey.exampleTopic.channel, secret: Secret("q0sT7wZ1bN4dF6gJ8hL5rE2uC9aVxQMpH2cXoY9m3k"))
    }
}

extension SubscriptionCounts: HasExample {
    package static var example: SubscriptionCounts {
        let service = PushServiceState(
            host: "updates.push.services.mozilla.com", subscriptions: 412, waiting: 0, stopped: nil,
            lastAnswer: PushServiceAnswer(at: .exampleTime, error: nil))
        return SubscriptionCounts(subscriptions: 412, proven: 409, hosts: [service])
    }
}
