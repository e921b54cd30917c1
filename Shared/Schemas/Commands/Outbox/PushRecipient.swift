import Base

/// One recipient of a push, for which FCM gets one request: `{"topic":"news"}`, `{"condition":"…"}` or `{"token":"…"}`.
package enum PushRecipient: Hashable, Sendable {
    /// The phones that are subscribed to an FCM topic, of the cube or not.
    case topic(String)
    /// The phones whose topics fulfil a condition, such as `'a' in topics && !('b' in topics)`.
    case condition(String)
    /// One phone, by its registration token.
    case token(String)

    /// The field of the FCM message, and of a stored recipient, that names it.
    package enum Field: String, CodingKey, CaseIterable, Sendable {
        case topic, condition, token
    }

    package init(_ field: Field, _ text: String) {
        switch field {
        case .topic: self = .topic(text)
        case .condition: self = .condition(text)
        case .token: self = .token(text)
        }
    }

    package var field: Field {
        switch self {
        case .topic: .topic
        case .condition: .condition
        case .token: .token
        }
    }

    package var text: String {
        switch self {
        case .topic(let text), .condition(let text), .token(let text): text
        }
    }

    /// The registration token; `nil` for a topic or condition.
    package var token: String? {
        if case .token(let token) = self { token } else { nil }
    }
}

/// The recipients of a push in a command: exactly one of `"topic":"…"`, `"condition":"…"` and `"tokens":["…"]`.
package protocol PushCommand {
    var topic: String? { get }
    var condition: String? { get }
    /// Registration tokens, 1 to ``PushRecipient/maxTokens``, each once.
    var tokens: [String]? { get }
}

extension PushRecipient {
    /// The maximum number of registration tokens of one push. With all outcomes, its document stays far below MongoDB's 16 MiB.
    package static let maxTokens = 1_000
}

extension PushCommand {
    /// One for each request to FCM.
    package var recipients: [PushRecipient] {
        topic.map { [.topic($0)] } ?? condition.map { [.condition($0)] } ?? (tokens ?? []).map(PushRecipient.token)
    }

    /// - Throws: A violation that names the field.
    func checkRecipients() throws(SchemaViolation) {
        let fields = [("topic", topic != nil), ("condition", condition != nil), ("tokens", tokens != nil)].filter(\.1).map(\.0)
        guard let field = fields.first else {
            throw SchemaViolation(field: "topic", problem: "expected a topic, a condition or tokens")
        }
        guard fields.count == 1 else {
            throw SchemaViolation(
                field: fields[1], problem: "expected only one of topic, condition and tokens, found \(field) as well")
        }
        if let topic, let problem = TextLimits.topicName.problem(with: topic) {
            throw SchemaViolation(field: "topic", problem: problem)
        }
        if let condition, let problem = TextLimits.condition.problem(with: condition) {
            throw SchemaViolation(field: "condition", problem: problem)
        }
        if let tokens { try Self.check(tokens) }
    }

    private static func check(_ tokens: [String]) throws(SchemaViolation) {
        guard (1...PushRecipient.maxTokens).contains(tokens.count) else {
            throw SchemaViolation(
                field: "tokens", problem: "expected 1 to \(PushRecipient.maxTokens) registration tokens, found \(tokens.count)")
        }
        var known: Set<String> = []
        for (position, token) in tokens.enumerated() {
            let problem = TextLimits.registrationToken.problem(with: token)
            if let problem { throw SchemaViolation(field: "tokens[\(position)]", problem: problem) }
            guard known.insert(token).inserted else {
                throw SchemaViolation(field: "tokens[\(position)]", problem: "there twice, expected each token once")
            }
        }
    }
}

extension [PushRecipient] {
    /// The recipients in a command's form.
    var fields: (topic: String?, condition: String?, tokens: [String]?) {
        switch first {
        case .topic(let topic): (topic, nil, nil)
        case .condition(let condition): (nil, condition, nil)
        case .token, nil: (nil, nil, map(\.text))
        }
    }
}

extension TextLimits {
    /// An FCM topic's name.
    fileprivate static let topicName = TextLimits(max: 900)
}

extension Broadcast {
    /// The FCM topics of the broadcast's channels, or its condition.
    package var recipients: [PushRecipient] {
        if let condition { return [.condition(condition)] }
        return channels?.map { .topic($0.description) } ?? [.topic(BroadcastPushData.generalTopic)]
    }

    /// The recipients of the pop-up. A condition has as many topics as FCM takes, so that a phone of several channels is alerted once for all of
    /// them.
    package var popupRecipients: [PushRecipient] {
        guard let channels else { return recipients }
        return stride(from: 0, to: channels.count, by: TopicCondition.maxTopics).map { begin in
            let part = channels[begin..<min(begin + TopicCondition.maxTopics, channels.count)]
            guard part.count > 1 else { return .topic(channels[begin].description) }
            return .condition(part.map { "'\($0)' in topics" }.joined(separator: " || "))
        }
    }
}
