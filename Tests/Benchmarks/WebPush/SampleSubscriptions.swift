import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import WebPushKeys
import WebPushStore

/// Browsers whose push service is a sink, and their proven subscriptions in the store of the Web Push service.
struct SampleSubscriptions {
    /// The push service's URL.
    let sink: String

    /// Its name in the product: the host and the port.
    private var service: String { String(sink.trimmingPrefix("https://")) }

    /// As many as are inserted at once.
    private static let batch = 500

    /// The endpoint of a browser. The sink answers all of them with the same file.
    static func endpoint(_ number: Int, at sink: String) -> String {
        "\(sink)\(RelayedMessage.path)?\(number)"
    }

    /// Stores subscriptions for the Alerts of one topic. No Web Push service may have the store open.
    ///
    /// - Parameters:
    ///   - folder: The state directory.
    ///   - first: The number of the first one, which its endpoint has.
    func store(_ count: Int, first: Int, of topic: TopicKey, in folder: String) async throws {
        try await Self.withStore(in: folder) { store in
            let key = try await VAPIDKeys(store: store).current().id
            for start in stride(from: 0, to: count, by: Self.batch) {
                let numbers = start..<min(count, start + Self.batch)
                let subscriptions = numbers.map { subscription(first + $0, key: key) }
                let subjects = subscriptions.map {
                    SubjectsDocument(id: $0.id, alerts: [topic], information: [], expires: nil)
                }
                let topics = subjects.flatMap { $0.topics(at: service) }
                try await store.transaction { transaction in
                    try transaction.insert(all: subscriptions, into: WebPushStore.subscriptions)
                    try transaction.insert(all: subjects, into: WebPushStore.subjects)
                    try transaction.insert(all: topics, into: WebPushStore.topics)
                }
            }
        }
    }

    /// The number of blocks of each message that has gone out to a number of subscriptions. No Web Push service may have the
    /// store open.
    static func blocks(ofFanOutsTo subscriptions: Int, in folder: String) async throws -> [Int] {
        try await withStore(in: folder) { store in
            try await store.page(of: WebPushStore.fanOuts, limit: 1_000).documents.map(\.document)
                .filter { $0.count == subscriptions }.map { Int($0.range) }
        }
    }

    private static func withStore<Value>(in folder: String, _ body: (Storage) async throws -> Value) async throws -> Value {
        let store = try await Storage.open(
            WebPushStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
        return try await perform {
            try await body(store)
        } finally: {
            try await store.close()
        }
    }

    private func subscription(_ number: Int, key: ObjectID) -> SubscriptionDocument {
        let browser = PushKeys()
        let endpoint = Secret(Self.endpoint(number, at: sink))
        let now = UnixMilliseconds.now
        return SubscriptionDocument(
            id: ObjectID(), secretHash: Secret.newSignIn().hash, endpoint: endpoint, endpointHash: endpoint.hash,
            host: service, service: service, p256dh: browser.p256dh, auth: browser.authSecret, key: key,
            language: "en", app: "https://hub.example.edu/app/", created: now, seen: now, codeHash: nil, expires: nil)
    }
}

extension PushKeys {
    /// What the product has of them.
    var browserKeys: BrowserKeys {
        get throws { try BrowserKeys(p256dh: p256dh, auth: authSecret) }
    }
}
