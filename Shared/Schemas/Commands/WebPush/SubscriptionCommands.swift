package import Base

/// `webpush.subscribe`: stores a browser's subscription, and sends it the first push, which shows that notifications are on and has the
/// code for ``ProveSubscription``. It gets messages once it is proven. What is not proven ends after an hour.
///
/// A refused subscription is `invalid`, with its field and the reason. After too many that are not proven, the answer is `overloaded` with
/// `retry_after`. The header's `address` is that of the browser.
package struct AddSubscription: Command, Checked, Hashable {
    package static let name = "webpush.subscribe"

    package struct Reply: Codable, Hashable, Sendable {
        package let id: ObjectID
        /// Its holder can change and remove the subscription. The store has only its hash.
        package let secret: Secret

        package init(id: ObjectID, secret: Secret) {
            self.id = id
            self.secret = secret
        }
    }

    /// The URL at the push service that pushes are sent to. A secret: its holder can send to the browser.
    package let endpoint: Secret
    /// The browser's public key: an uncompressed point of P-256 in URL-safe Base64.
    package let p256dh: String
    /// The browser's authentication secret: 16 bytes in URL-safe Base64.
    package let auth: Secret
    package let subjects: SubscribedSubjects
    /// The language of the first push; by default English.
    package let language: String?
    /// The app's URL, which notifications open.
    package let app: String?

    package init(
        endpoint: Secret, p256dh: String, auth: Secret, subjects: SubscribedSubjects, language: String? = nil, app: String? = nil
    ) {
        self.endpoint = endpoint
        self.p256dh = p256dh
        self.auth = auth
        self.subjects = subjects
        self.language = language
        self.app = app
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case endpoint, p256dh, auth, alerts, information, language, app
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            endpoint: try fields.decode(Secret.self, forKey: .endpoint),
            p256dh: try fields.decode(String.self, forKey: .p256dh),
            auth: try fields.decode(Secret.self, forKey: .auth),
            subjects: SubscribedSubjects(
                alerts: try fields.decode([TopicKey].self, forKey: .alerts),
                information: try fields.decode([TopicKey].self, forKey: .information)),
            language: try fields.decodeIfPresent(String.self, forKey: .language),
            app: try fields.decodeIfPresent(String.self, forKey: .app))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(endpoint, forKey: .endpoint)
        try fields.encode(p256dh, forKey: .p256dh)
        try fields.encode(auth, forKey: .auth)
        try fields.encode(subjects.alerts, forKey: .alerts)
        try fields.encode(subjects.information, forKey: .information)
        try fields.encodeIfPresent(language, forKey: .language)
        try fields.encodeIfPresent(app, forKey: .app)
    }

    package func check() throws(SchemaViolation) {
        if let problem = TextLimits.subscriptionURL.problem(with: endpoint.text) {
            throw SchemaViolation(CodingKeys.endpoint, problem)
        }
        try TextLimits.browserKey.check(p256dh, CodingKeys.p256dh)
        if let problem = TextLimits.browserKey.problem(with: auth.text) { throw SchemaViolation(CodingKeys.auth, problem) }
        try subjects.check()
        try TextLimits.languageTag.check(language, CodingKeys.language)
        try TextLimits.subscriptionURL.check(app, CodingKeys.app)
    }
}

/// The subjects that a subscription gets pushes of.
package struct SubscribedSubjects: Checked, Hashable, Sendable {
    /// The maximum number of subjects, those for Information included.
    package static let max = 2_000

    /// The subjects whose Alerts it gets: all that the student has subscribed to.
    package let alerts: [TopicKey]
    /// The subjects whose Information it gets: those that the student asked for notifications of.
    package let information: [TopicKey]

    package init(alerts: [TopicKey], information: [TopicKey]) {
        self.alerts = alerts
        self.information = information
    }

    private enum CodingKeys: CodingKey {
        case alerts, information
    }

    package func check() throws(SchemaViolation) {
        let count = alerts.count + information.count
        guard count <= Self.max else {
            throw SchemaViolation(
                CodingKeys.alerts, "expected at most \(Self.max) subjects with those of information, found \(count)")
        }
    }
}

/// `webpush.change`: the subjects and the language that a subscription has from now on. It also counts as a sign of life.
///
/// `not_found` for an unknown id or a wrong secret: the app then subscribes again.
package struct ChangeSubscription: Command, Checked, Hashable {
    package static let name = "webpush.change"
    package typealias Reply = Done

    package let id: ObjectID
    package let secret: Secret
    package let subjects: SubscribedSubjects
    /// `nil` leaves the language as it is.
    package let language: String?

    package init(id: ObjectID, secret: Secret, subjects: SubscribedSubjects, language: String? = nil) {
        self.id = id
        self.secret = secret
        self.subjects = subjects
        self.language = language
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, secret, alerts, information, language
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try fields.decode(ObjectID.self, forKey: .id), secret: try fields.decode(Secret.self, forKey: .secret),
            subjects: SubscribedSubjects(
                alerts: try fields.decode([TopicKey].self, forKey: .alerts),
                information: try fields.decode([TopicKey].self, forKey: .information)),
            language: try fields.decodeIfPresent(String.self, forKey: .language))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(secret, forKey: .secret)
        try fields.encode(subjects.alerts, forKey: .alerts)
        try fields.encode(subjects.information, forKey: .information)
        try fields.encodeIfPresent(language, forKey: .language)
    }

    package func check() throws(SchemaViolation) {
        try subscriptionSecret(secret, CodingKeys.secret)
        try subjects.check()
        try TextLimits.languageTag.check(language, CodingKeys.language)
    }
}

/// `webpush.prove`: returns the code of the first push. From then on the subscription gets messages, and it does not end by itself.
/// Repeated, it changes nothing.
///
/// `not_found` for an unknown id or a wrong secret; `invalid` with the field `code` for a wrong code.
package struct ProveSubscription: Command, Checked, Hashable {
    package static let name = "webpush.prove"
    package typealias Reply = Done

    package let id: ObjectID
    package let secret: Secret
    package let code: Secret

    package init(id: ObjectID, secret: Secret, code: Secret) {
        self.id = id
        self.secret = secret
        self.code = code
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, secret, code
    }

    package func check() throws(SchemaViolation) {
        try subscriptionSecret(secret, CodingKeys.secret)
        try subscriptionSecret(code, CodingKeys.code)
    }
}

/// `webpush.unsubscribe`: removes a subscription. An unknown id is no error; a wrong secret is `not_found`.
package struct RemoveSubscription: Command, Checked, Hashable {
    package static let name = "webpush.unsubscribe"
    package typealias Reply = Done

    package let id: ObjectID
    package let secret: Secret

    package init(id: ObjectID, secret: Secret) {
        self.id = id
        self.secret = secret
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, secret
    }

    package func check() throws(SchemaViolation) {
        try subscriptionSecret(secret, CodingKeys.secret)
    }
}

/// Checks the length of a secret that is compared with a stored one. The error does not contain it.
private func subscriptionSecret(_ secret: Secret, _ field: some CodingKey) throws(SchemaViolation) {
    if let problem = TextLimits.subscriptionSecret.problem(with: secret.text) { throw SchemaViolation(field, problem) }
}

extension TextLimits {
    /// An endpoint, or the app's URL.
    fileprivate static let subscriptionURL = TextLimits(max: 2_048)
    /// A key in Base64. The service checks its form.
    fileprivate static let browserKey = TextLimits(max: 200)
    fileprivate static let languageTag = TextLimits(max: 35, lettersDigitsAnd: "-")
    fileprivate static let subscriptionSecret = TextLimits(max: 200)
}
