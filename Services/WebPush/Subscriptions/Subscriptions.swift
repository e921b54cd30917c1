import Base
import Schemas
import Store
import WebPushStore

/// The browsers' subscriptions in the store.
struct Subscriptions: Sendable {
    let store: Storage
    let tally: SubscriptionTally
    /// The clock.
    var now: @Sendable () -> UnixMilliseconds = { .now }

    /// Of how many subscriptions with the same endpoint the hub waits for the code at a time. Each costs the browser one push.
    static let maxUnprovenByEndpoint = 3

    /// The pages of scans.
    static let pageSize = 1_000

    /// A new subscription, with what only the app and the first push have.
    struct Added: Sendable {
        let document: SubscriptionDocument
        let secret: Secret
        let code: Secret
    }

    /// Stores a subscription that is not proven yet.
    ///
    /// - Parameters:
    ///   - endpoint: The checked endpoint of the command.
    ///   - key: The key pair that browsers subscribe with.
    ///   - address: The client's.
    /// - Throws: ``CommandFailure`` with `overloaded` if too many subscriptions of the address, of the push service or of the endpoint are
    ///   not proven; the failures of the store.
    func add(_ command: AddSubscription, at endpoint: PushEndpoint, key: ObjectID, address: String?) async throws -> Added {
        let now = now()
        let (secret, code) = (Secret.newSignIn(), Secret.newSignIn())
        let document = SubscriptionDocument(
            id: .unguessable(), secretHash: secret.hash, endpoint: command.endpoint, endpointHash: command.endpoint.hash,
            host: endpoint.host, service: endpoint.service, p256dh: command.p256dh, auth: command.auth, key: key,
            language: command.language, app: command.app, created: now, seen: now, codeHash: code.hash,
            expires: now + SubscriptionDocument.timeToProve)
        var subjects = SubjectsDocument(id: document.id, alerts: [], information: [], expires: document.expires)
        subjects.set(command.subjects)
        try tally.admit(document, from: address, now: now)
        do {
            try await store.transaction { [subjects] transaction in
                let same = try transaction.withEndpoint(document.endpointHash)
                guard same.count(where: { !$0.isProven }) < Self.maxUnprovenByEndpoint else {
                    throw CommandFailure(
                        .conflict, "the code of an earlier push to the same endpoint is awaited", field: "endpoint")
                }
                try transaction.insert(document, into: WebPushStore.subscriptions)
                try transaction.insert(subjects, into: WebPushStore.subjects)
            }
        } catch {
            tally.removed(document)
            throw error
        }
        return Added(document: document, secret: secret, code: code)
    }

    /// - Throws: ``CommandFailure`` with `not_found` for an unknown id or a wrong secret.
    func change(_ command: ChangeSubscription) async throws {
        let now = now()
        try await store.transaction { transaction in
            let known = try transaction.subscription(command.id, secret: command.secret)
            try transaction.update(command.id, in: WebPushStore.subscriptions) { stored in
                stored.seen = now
                if let language = command.language { stored.language = language }
            }
            let subjects = try transaction.get(command.id, from: WebPushStore.subjects)?.document
            let earlier = Set(subjects?.topics(at: known.service) ?? [])
            let stored = try transaction.update(command.id, in: WebPushStore.subjects) { $0.set(command.subjects) }
            let changed = Set(stored.document.topics(at: known.service))
            guard known.isProven else { return }
            try transaction.remove(earlier.subtracting(changed))
            try transaction.add(Array(changed.subtracting(earlier)))
        }
    }

    /// Notes that the browser has got the code. From now on it gets messages. Earlier subscriptions of the same browser end.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` for an unknown id or a wrong secret, and with `invalid` for a wrong code.
    func prove(_ command: ProveSubscription) async throws {
        let now = now()
        let (proven, replaced) = try await store.transaction { transaction -> (SubscriptionDocument?, [SubscriptionDocument]) in
            let known = try transaction.subscription(command.id, secret: command.secret)
            guard !known.isProven else { return (nil, []) }
            guard known.codeHash == command.code.hash else {
                throw CommandFailure(.invalid, "code: expected the code of the first push", field: "code")
            }
            try transaction.update(command.id, in: WebPushStore.subscriptions) { stored in
                (stored.seen, stored.codeHash, stored.expires) = (now, nil, nil)
            }
            let subjects = try transaction.update(command.id, in: WebPushStore.subjects) { $0.expires = nil }
            try transaction.add(subjects.document.topics(at: known.service))
            let replaced = try transaction.withEndpoint(known.endpointHash).filter { $0.id != known.id }
            for subscription in replaced { try transaction.end(subscription) }
            return (known, replaced)
        }
        if let proven { tally.proved(proven) }
        for subscription in replaced { tally.removed(subscription) }
    }

    /// Removes a subscription. An unknown id is no error.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` for a wrong secret.
    func remove(_ command: RemoveSubscription) async throws {
        let removed = try await store.transaction { transaction -> SubscriptionDocument? in
            guard try transaction.get(command.id, from: WebPushStore.subscriptions) != nil else { return nil }
            let known = try transaction.subscription(command.id, secret: command.secret)
            try transaction.end(known)
            return known
        }
        if let removed { tally.removed(removed) }
    }

    /// Removes a subscription that its push service does not know any more, or never took. An unknown id is no error.
    func end(_ id: ObjectID) async throws {
        let removed = try await store.transaction { transaction -> SubscriptionDocument? in
            guard let known = try transaction.get(id, from: WebPushStore.subscriptions)?.document else { return nil }
            try transaction.end(known)
            return known
        }
        if let removed { tally.removed(removed) }
    }

    /// Reads subscriptions.
    ///
    /// - Returns: Those that are there.
    func subscriptions(_ ids: [ObjectID]) async throws -> [ObjectID: SubscriptionDocument] {
        let found = try await store.get(all: ids, from: WebPushStore.subscriptions)
        return Dictionary(found.map { ($0.document.id, $0.document) }) { $1 }
    }

    /// Counts all of them again.
    func recount() async throws {
        var count = SubscriptionTally.Count()
        var cursor: Cursor?
        repeat {
            let page = try await store.page(of: WebPushStore.subscriptions, after: cursor, limit: Self.pageSize)
            for stored in page.documents {
                count.add(stored.document)
                // Another instance may have got its code.
                if stored.document.isProven { tally.isProven(stored.document.id) }
            }
            cursor = page.next
        } while cursor != nil
        tally.replace(by: count)
    }
}

extension Transaction {
    /// - Throws: ``CommandFailure`` with `not_found` for an unknown id or a wrong secret.
    fileprivate func subscription(_ id: ObjectID, secret: Secret) throws -> SubscriptionDocument {
        guard let known = try get(id, from: WebPushStore.subscriptions)?.document, known.secretHash == secret.hash else {
            throw CommandFailure(.notFound, "no such subscription, or another secret")
        }
        return known
    }

    /// The subscriptions with an endpoint.
    fileprivate func withEndpoint(_ hash: String) throws -> [SubscriptionDocument] {
        // At most one is proven.
        let limit = Subscriptions.maxUnprovenByEndpoint + 2
        return try page(of: WebPushStore.subscriptions, Query(where: WebPushStore.endpointHash == hash), limit: limit)
            .documents.map(\.document)
    }

    /// Removes a subscription that is there, with its subjects.
    fileprivate func end(_ subscription: SubscriptionDocument) throws {
        if let subjects = try get(subscription.id, from: WebPushStore.subjects)?.document {
            try remove(subjects.topics(at: subscription.service))
            try delete(subscription.id, from: WebPushStore.subjects)
        }
        try delete(subscription.id, from: WebPushStore.subscriptions)
    }

    fileprivate func add(_ topics: [SubscribedTopic]) throws {
        if !topics.isEmpty { try insert(all: topics, into: WebPushStore.topics) }
    }

    fileprivate func remove(_ topics: some Sequence<SubscribedTopic>) throws {
        let ids = topics.map(\.id)
        if !ids.isEmpty { try delete(ids, from: WebPushStore.topics) }
    }
}

extension ObjectID {
    /// A new identifier that nobody can derive from others. A student's device names a subscription by its identifier alone, and
    /// takes it from every other device.
    fileprivate static func unguessable() -> ObjectID {
        let new = ObjectID()
        // The time stays, so that later subscriptions follow earlier ones.
        let time = Array(new.bytes.prefix(4))
        let random = (0..<8).map { _ in UInt8.random(in: 0...255) }
        return ObjectID(bytes: time + random) ?? new
    }
}
