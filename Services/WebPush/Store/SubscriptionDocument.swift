import Crypto
import FoundationEssentials
import Base
import Schemas
import Store

/// A browser's subscription. It names no person.
struct SubscriptionDocument: StoredDocument {
    let id: ObjectID
    /// The hash of the secret that the app has.
    let secretHash: String
    /// Whoever has it can reach the browser.
    let endpoint: Secret
    let endpointHash: String
    /// The push service's host, for counts.
    let host: String
    /// The name of the push service (``PushEndpoint/service``), for blocks.
    let service: String
    let p256dh: String
    let auth: Secret
    /// The hub's key pair that it was made with.
    let key: ObjectID
    var language: String?
    /// The app's URL, which notifications open.
    let app: String?
    let created: UnixMilliseconds
    /// When its app last asked for anything.
    var seen: UnixMilliseconds
    /// The hash of the code in the first push; absent once it is proven.
    var codeHash: String?
    /// When it ends unless it is proven; absent once it is.
    var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case secretHash = "secret_hash"
        case endpointHash = "endpoint_hash"
        case codeHash = "code_hash"
        case endpoint, host, service, p256dh, auth, key, language, app, created, seen, expires
    }

    /// How long it has to return the code of its first push.
    static let timeToProve = Milliseconds.seconds(3_600)

    var isProven: Bool { expires == nil }
}

/// The subjects of a subscription. They are apart from it, because each push reads the subscription, and none reads its subjects.
struct SubjectsDocument: StoredDocument {
    /// The subscription's.
    let id: ObjectID
    var alerts: [TopicKey]
    var information: [TopicKey]
    /// As of the subscription.
    var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case alerts, information, expires
    }

    /// - Parameter subjects: Each of them once is enough.
    mutating func set(_ subjects: SubscribedSubjects) {
        alerts = subjects.alerts.withoutRepeats
        information = subjects.information.withoutRepeats
    }

    /// What a fan-out finds the subscription by.
    ///
    /// - Parameter service: The name of the subscription's push service.
    func topics(at service: String) -> [SubscribedTopic] {
        alerts.map { SubscribedTopic($0, .alert, of: id, at: service) }
            + information.map { SubscribedTopic($0, .information, of: id, at: service) }
    }
}

/// One subject of a proven subscription. A fan-out reads those of its message's subject in the order of the subscriptions.
struct SubscribedTopic: StoredDocument, Hashable {
    let id: ObjectID
    let topic: TopicKey
    /// The messages of the subject that it gets.
    let distribution: Distribution
    let subscription: ObjectID
    /// The name of its push service. A block has subscriptions of one service only.
    let service: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case topic, distribution, subscription, service
    }

    init(_ topic: TopicKey, _ distribution: Distribution, of subscription: ObjectID, at service: String) {
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
    var hash: String { CredentialHash(digest: SHA256.hash(data: Data(text.utf8))).description }
}
