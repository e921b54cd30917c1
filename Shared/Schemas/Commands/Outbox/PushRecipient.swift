import Base

/// One recipient of a push: `{"topic":"news"}`, `{"condition":"…"}`, `{"token":"…"}`, `{"account":"ann"}`, or `{"fcm_device":"6b01…"}` or
/// `{"webpush_device":"6b01…"}` of an account. A relay gets one request for each, and never an account or a device.
package enum PushRecipient: Hashable, Sendable {
    /// The phones that are subscribed to an FCM topic, of the cube or not.
    case topic(String)
    /// The phones whose topics fulfil a condition, such as `'a' in topics && !('b' in topics)`.
    case condition(String)
    /// One phone, by its registration token.
    case token(String)
    /// The devices of a person, by the account's name, until the push is relayed. Then those that the account has at that time take its
    /// place, and the name is forgotten.
    case account(String)
    /// A device of a person that is reached by FCM, by its id. Its registration token is not stored.
    case fcmDevice(String)
    /// A device of a person that is reached by Web Push, by its id.
    case webpushDevice(String)

    /// The field of the FCM message, and of a stored recipient, that names it.
    package enum Field: String, CodingKey, CaseIterable, Sendable {
        case topic, condition, account
        case fcmDevice = "fcm_device"
        case webpushDevice = "webpush_device"
        // The last one, because readers look for it first.
        case token
    }

    package init(_ field: Field, _ text: String) {
        switch field {
        case .topic: self = .topic(text)
        case .condition: self = .condition(text)
        case .token: self = .token(text)
        case .account: self = .account(text)
        case .fcmDevice: self = .fcmDevice(text)
        case .webpushDevice: self = .webpushDevice(text)
        }
    }

    /// A device of a person.
    package init(device: ObjectID, by transport: PushTransport) {
        self =
            switch transport {
            case .fcm: .fcmDevice(device.description)
            case .webpush: .webpushDevice(device.description)
            }
    }

    package var field: Field {
        switch self {
        case .topic: .topic
        case .condition: .condition
        case .token: .token
        case .account: .account
        case .fcmDevice: .fcmDevice
        case .webpushDevice: .webpushDevice
        }
    }

    package var text: String {
        switch self {
        case .topic(let text), .condition(let text), .token(let text), .account(let text), .fcmDevice(let text),
            .webpushDevice(let text):
            text
        }
    }

    /// The registration token; `nil` for a topic or condition.
    package var token: String? {
        if case .token(let token) = self { token } else { nil }
    }

    /// The account whose devices it stands for; `nil` if it is no account.
    package var account: AccountName? {
        if case .account(let name) = self { AccountName(name) } else { nil }
    }

    /// The device of a person; `nil` for all others.
    package var device: ObjectID? {
        switch self {
        case .fcmDevice(let id), .webpushDevice(let id): ObjectID(id)
        case .topic, .condition, .token, .account: nil
        }
    }
}

/// The recipients of a push in a command: exactly one of `"topic":"…"`, `"condition":"…"`, `"tokens":["…"]` and, in ``LogPush``,
/// `"accounts":["…"]`.
package protocol PushCommand {
    var topic: String? { get }
    var condition: String? { get }
    /// Registration tokens, 1 to ``PushRecipient/maxTokens``, each once.
    var tokens: [String]? { get }
    /// The persons whose devices it is for, 1 to ``PushRecipient/maxAccounts``, each once.
    var accounts: [AccountName]? { get }
}

extension PushCommand {
    package var accounts: [AccountName]? { nil }
}

extension PushRecipient {
    /// The maximum number of registration tokens of one push. With all outcomes, its document stays far below MongoDB's 16 MiB.
    package static let maxTokens = 1_000
    /// The maximum number of accounts of one push. With ``PersonLimits/maxDevices`` for each, its devices are as many as ``maxTokens``.
    package static let maxAccounts = 100
}

extension PushCommand {
    /// One for each request to FCM.
    package var recipients: [PushRecipient] {
        if let accounts { return accounts.map { PushRecipient.account($0.description) } }
        return topic.map { [.topic($0)] } ?? condition.map { [.condition($0)] } ?? (tokens ?? []).map(PushRecipient.token)
    }

    /// - Throws: A violation that names the field.
    func checkRecipients() throws(SchemaViolation) {
        let all = [
            ("topic", topic != nil), ("condition", condition != nil), ("tokens", tokens != nil), ("accounts", accounts != nil),
        ]
        let fields = all.filter(\.1).map(\.0)
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
        if let accounts { try Self.check(accounts) }
    }

    private static func check(_ accounts: [AccountName]) throws(SchemaViolation) {
        guard (1...PushRecipient.maxAccounts).contains(accounts.count) else {
            throw SchemaViolation(
                field: "accounts", problem: "expected 1 to \(PushRecipient.maxAccounts) accounts, found \(accounts.count)")
        }
        guard Set(accounts).count == accounts.count else {
            throw SchemaViolation(field: "accounts", problem: "expected each account once")
        }
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
        case .account, .fcmDevice, .webpushDevice:
            preconditionFailure("a relay gets the tokens of devices, and nothing of their persons")
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
