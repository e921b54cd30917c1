import Crypto
import FoundationEssentials
package import Base
package import Schemas
import Store

/// A browser's subscription. It names no person.
package struct SubscriptionDocument: StoredDocument {
    package let id: ObjectID
    /// The hash of the secret that the app has.
    package let secretHash: String
    /// A secret: its holder can send to the browser.
    package let endpoint: Secret
    package let endpointHash: String
    /// The push service's host, for counts.
    package let host: String
    /// The name of the push service, for blocks: its host, or the domain that its hosts have in common.
    package let service: String
    package let p256dh: String
    package let auth: Secret
    /// The hub's key pair that it was made with.
    package let key: ObjectID
    package var language: String?
    /// The app's URL, which notifications open.
    package let app: String?
    package let created: UnixMilliseconds
    /// When its app last asked for anything.
    package var seen: UnixMilliseconds
    /// The hash of the code in the first push; absent once it is proven.
    package var codeHash: String?
    /// When it ends unless it is proven; absent once it is.
    package var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case secretHash = "secret_hash"
        case endpointHash = "endpoint_hash"
        case codeHash = "code_hash"
        case endpoint, host, service, p256dh, auth, key, language, app, created, seen, expires
    }

    package init(
        id: ObjectID, secretHash: String, endpoint: Secret, endpointHash: String, host: String, service: String, p256dh: String,
        auth: Secret, key: ObjectID, language: String?, app: String?, created: UnixMilliseconds, seen: UnixMilliseconds,
        codeHash: String?, expires: UnixMilliseconds?
    ) {
        self.id = id
        self.secretHash = secretHash
        self.endpoint = endpoint
        self.endpointHash = endpointHash
        self.host = host
        self.service = service
        self.p256dh = p256dh
        self.auth = auth
        self.key = key
        self.language = language
        self.app = app
        self.created = created
        self.seen = seen
        self.codeHash = codeHash
        self.expires = expires
    }

    /// How long it has to return the code of its first push.
    package static let timeToProve = Milliseconds.seconds(3_600)

    package var isProven: Bool { expires == nil }
}

/// The subjects of a subscription. They are apart from it, because each push reads the subscription, and none reads its subjects.
package struct SubjectsDocument: StoredDocument {
    /// The subscription's.
    package let id: ObjectID
    package var alerts: [TopicKey]
    package var information: [TopicKey]
    /// As of the subscription.
    package var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case alerts, information, expires
    }

    package init(id: ObjectID, alerts: [TopicKey], information: [TopicKey], expires: UnixMilliseconds?) {
        self.id = id
        self.alerts = alerts
        self.information = information
        self.expires = expires
    }

    /// - Parameter subjects: Each of them once is enough.
    package mutating func set(_ subjects: SubscribedSubjects) {
        alerts = subjects.alerts.withoutRepeats
        information = subjects.information.withoutRepeats
    }

    /// What a fan-out finds the subscription by.
    ///
    /// - Parameter service: The name of the subscription's push service.
    package func topics(at service: String) -> [SubscribedTopic] {
        alerts.map { SubscribedTopic($0, .alert, of: id, at: service) }
            + information.map { SubscribedTopic($0, .information, of: id, at: service) }
    }
}

/// One subject of a proven subscription. A fan-out reads those of its message's subject in the order of the subscriptions.
package struct SubscribedTopic: StoredDocument, Hashable {
    package let id: ObjectID
    package let topic: TopicKey
    /// The messages of the subject that it gets.
    package let distribution: Distribution
    package let subscription: ObjectID
    /// The name of its push service. A block has subscriptions of one service only.
    package let service: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case topic, distribution, subscription, service
    }

    package init(_ topic: TopicKey, _ distribution: Distribution, of subscription: ObjectID, at service: String) {
        self.topic = topic
        self.distribution = distribution
        self.subscription = subscription
        self.service = service
        // Follows from the subscription and the subject, so that it can be removed without a further index. Twelve bytes of a hash are enough for any number.
        let digest = SHA256.hash(data: Data("\(subscription) \(distribution.rawValue) \(topic)".utf8))
        id = ObjectID(bytes: Array(digest.prefix(12))) ?? ObjectID()
    }
}

extension [TopicKey] {
    fileprivate var withoutRepeats: [TopicKey] {
        var known: Set<TopicKey> = []
        return filter { known.insert($0).inserted }
    }
}

extension Secret {
    /// What the store has in its place.
    package var hash: String { CredentialHash(digest: SHA256.hash(data: Data(text.utf8))).description }
}
