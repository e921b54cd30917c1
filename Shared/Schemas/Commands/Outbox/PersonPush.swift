package import Base

/// The `message` of a push to persons (``LogPush``): what has happened, in words that say nothing about who, where or what. The app fetches
/// the rest.
///
/// `{"id":"6b01…","link":"#people/requests","texts":{"en":"You have a friend request","ar":"…"},"urgency":"high"}`
///
/// The message log makes FCM's or Web Push's message of it for each device, in the device's language.
package struct PersonPush: Codable, Checked, Hashable, Sendable {
    /// What it is about, such as a request's id. It names no person.
    package let id: String
    /// The place in the app that a tap opens: a fragment, such as `#people/requests`.
    package let link: String
    /// The generic sentence, by language tags; there is one in English.
    package let texts: [String: String]
    /// A later push with the same tag replaces this one on a device; by default its kind and ``id``.
    package let tag: String?
    package let urgency: Urgency

    package init(id: String, link: String, texts: [String: String], tag: String? = nil, urgency: Urgency = .high) {
        self.id = id
        self.link = link
        self.texts = texts
        self.tag = tag
        self.urgency = urgency
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, link, texts, tag, urgency
    }

    /// Reads a push's `message`.
    ///
    /// - Throws: ``SchemaViolation``.
    package init(_ json: JSONValue) throws {
        self = try JSONCoder.decodeStrictly(from: json.data)
    }

    /// The language of which there is always a text.
    package static let defaultLanguage = "en"
    private static let maxLanguages = 20

    package func check() throws(SchemaViolation) {
        try TextLimits.pushSubject.check(id, CodingKeys.id)
        try TextLimits.pushLink.check(link, CodingKeys.link)
        try TextLimits.pushTag.check(tag, CodingKeys.tag)
        guard link.hasPrefix("#") else { throw SchemaViolation(CodingKeys.link, "expected a fragment that begins with #") }
        guard texts[Self.defaultLanguage] != nil, texts.count <= Self.maxLanguages else {
            throw SchemaViolation(
                CodingKeys.texts, "expected texts in at most \(Self.maxLanguages) languages, one of them \(Self.defaultLanguage)")
        }
        for (language, text) in texts.sorted(by: { $0.key < $1.key }) {
            guard LanguageTag(language) != nil else {
                throw SchemaViolation(CodingKeys.texts, "expected language tags, found \(language.prefix(40))")
            }
            if let problem = TextLimits.pushText.problem(with: text) { throw SchemaViolation(CodingKeys.texts, problem) }
        }
    }

    /// The text for a device, and its language: the device's, else that without region and script, else English.
    package func text(in language: String?) -> (language: String, text: String) {
        let known = Dictionary(texts.map { (LanguageTag.key(of: $0.key), $0) }) { first, _ in first }
        for tag in LanguageTag.fallbacks(of: language ?? Self.defaultLanguage) {
            if let found = known[tag] { return (found.key, found.value) }
        }
        return (Self.defaultLanguage, texts[Self.defaultLanguage] ?? "")
    }
}

/// A push to persons as it is stored, in its field `message`: without the persons, whose devices are its recipients.
package struct StoredPersonPush: Codable, Hashable, Sendable {
    package let kind: PushKind
    package let exceptDevice: ObjectID?
    /// To how many accounts it was logged.
    package let accounts: Int
    package let push: PersonPush

    private enum CodingKeys: String, CodingKey {
        case kind, accounts, push
        case exceptDevice = "except_device"
    }

    /// - Returns: `nil` for a push that is not to persons.
    /// - Throws: ``SchemaViolation`` for a message that is no ``PersonPush``.
    package init?(_ command: LogPush) throws {
        guard let accounts = command.accounts, let kind = command.kind else { return nil }
        self.kind = kind
        self.accounts = accounts.count
        exceptDevice = command.exceptDevice
        push = try PersonPush(command.message)
    }

    /// The field of a stored message that has it. No transport's message has a field of this name.
    private static let field = "person"

    /// Whether a stored message is that of a push to persons.
    package static func isMessage(_ message: JSONValue) -> Bool { message[field] != nil }

    /// - Returns: `nil` for the message of another push.
    init?(message: JSONValue) {
        guard let json = message[Self.field], let read = try? JSONCoder.decode(Self.self, from: json.data) else { return nil }
        self = read
    }

    /// It as a push's `message`.
    ///
    /// - Throws: An encoder's error.
    package var json: JSONValue {
        get throws { [Self.field: try JSONValue(encoding: self)] }
    }

    /// The tag of its notifications.
    package var tag: String { push.tag ?? "\(kind)-\(push.id)" }

    /// What the browser of a device gets, in Apple's declarative form.
    ///
    /// - Parameter language: The device's.
    package func webPush(in language: String?) -> WebPushMessage {
        let (language, text) = push.text(in: language)
        return WebPushMessage(
            payload: [
                "web_push": 8_030,
                "notification": [
                    "title": .string(text), "lang": .string(language), "dir": "auto", "navigate": .string(push.link),
                    "tag": .string(tag),
                ],
                "msi": ["kind": .string(kind.description), "id": .string(push.id), "link": .string(push.link)],
            ],
            urgency: push.urgency == .high ? .high : .normal)
    }
}

/// What a push to persons is about: a person switches pushes on and off by kind. A service names its own.
package struct PushKind: Hashable, Sendable {
    package let description: String

    /// Somebody asks for the person's friendship.
    package static let friendRequest = PushKind(known: "friend_request")
    /// Somebody whom the person has asked is a friend now.
    package static let friendAccepted = PushKind(known: "friend_accepted")

    /// Somebody invites the person to a study session.
    package static let sessionInvite = PushKind(known: "session_invite")
    /// Somebody has joined a study session that the person hosts.
    package static let sessionJoin = PushKind(known: "session_join")
    /// There are new posts to a study session in which the person is.
    package static let sessionPost = PushKind(known: "session_post")
    /// A study session was handed over to the person.
    package static let sessionHost = PushKind(known: "session_host")
    /// A study session in which the person is ends soon.
    package static let sessionEnding = PushKind(known: "session_ending")
    /// A study session in which the person was has ended.
    package static let sessionEnded = PushKind(known: "session_ended")
    /// A study session has begun in a class about whose sessions the person wants to know.
    package static let sessionNew = PushKind(known: "session_new")

    private init(known text: String) {
        description = text
    }
}

extension PushKind: TextCodable {
    package init?(_ description: String) {
        guard (1...30).contains(description.utf8.count),
            description.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.description = description
    }

    package static var expected: String { "1 to 30 of a–z and _ (a kind of push)" }
    package static var pattern: String { "^[a-z_]{1,30}$" }
    package static var example: String { "friend_request" }
}

extension TextLimits {
    /// What a push to persons is about: with its kind it fits into a tag.
    fileprivate static let pushSubject = TextLimits(max: 32, lettersDigitsAnd: "-_.")
    /// APNs takes identifiers of 64 bytes.
    fileprivate static let pushTag = TextLimits(max: 64, lettersDigitsAnd: "-_./")
    fileprivate static let pushLink = TextLimits(max: 200, lettersDigitsAnd: "#/-_.=&?%")
    /// Short enough that a notification shows it whole, and that it fits into FCM's and Web Push's limits in every script.
    fileprivate static let pushText = TextLimits(max: 200, .line)
}
