package import Crypto
import FoundationEssentials
import Base
package import Schemas
package import Store
import Synchronization

/// A key pair of the hub (RFC 8292). Browsers subscribe with its public key, and push services then take only pushes that are signed with
/// its private key.
struct VAPIDKeyDocument: StoredDocument {
    let id: ObjectID
    /// In URL-safe Base64.
    let privateKey: Secret
    let created: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case privateKey = "private_key"
        case created
    }
}

/// A key pair, ready for use.
package struct VAPIDKey: Sendable {
    package let id: ObjectID
    package let signingKey: P256.Signing.PrivateKey
    /// The public key as an uncompressed point in URL-safe Base64.
    package let publicKey: String

    package init(id: ObjectID, _ signingKey: P256.Signing.PrivateKey) {
        self.id = id
        self.signingKey = signingKey
        publicKey = signingKey.publicKey.x963Representation.base64URL
    }

    /// - Throws: ``CommandFailure`` with `internal` if the stored key is damaged. It does not contain the key.
    init(_ document: VAPIDKeyDocument) throws(CommandFailure) {
        guard let bytes = Data(base64URL: document.privateKey.text),
            let signingKey = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw CommandFailure(.internal, "the key \(document.id) in webpush_key is damaged; restore it from a backup") }
        self.init(id: document.id, signingKey)
    }
}

/// The hub's key pairs. The first one is made at the first start. After a rotation the newest is given to browsers, and the earlier ones
/// sign the pushes to the subscriptions that were made with them, until their apps have subscribed again.
package final class VAPIDKeys: Sendable {
    private let store: Storage
    /// Oldest first; empty until they are read.
    private let keys = Mutex<[VAPIDKey]>([])

    package init(store: Storage) {
        self.store = store
    }

    /// The one that browsers subscribe with. It is made if there is none.
    ///
    /// - Throws: ``CommandFailure``.
    package func current() async throws -> VAPIDKey {
        if let newest = keys.withLock(\.last) { return newest }
        try await refresh()
        guard let newest = keys.withLock(\.last) else { throw CommandFailure(.internal, "webpush_key has no readable key") }
        return newest
    }

    /// The key with an id. Another instance may have made it.
    ///
    /// - Returns: `nil` if the operator has removed it.
    package func key(_ id: ObjectID) async throws -> VAPIDKey? {
        if let known = known(id) { return known }
        try await refresh()
        return known(id)
    }

    private func known(_ id: ObjectID) -> VAPIDKey? { keys.withLock { $0.last { $0.id == id } } }

    /// Reads them, since another instance may have rotated them, and makes the first one if there is none.
    package func refresh() async throws {
        var found = try await read()
        if found.isEmpty {
            do {
                try await store.insert(Self.newKey(id: .least), into: WebPushStore.keys)
            } catch let failure as CommandFailure where failure.status == .conflict {
                // Another instance has started at the same time, and has made it.
            }
            found = try await read()
        }
        keys.withLock { [found] in $0 = found }
    }

    /// Makes a new key pair for new subscriptions.
    ///
    /// - Parameter forget: Whether to remove the earlier ones, such as after a theft. The subscriptions that were made with them end.
    package func rotate(forgetting forget: Bool) async throws -> VAPIDKey {
        let earlier = try await read().map(\.id)
        try await store.transaction { transaction in
            try transaction.insert(Self.newKey(), into: WebPushStore.keys)
            guard forget else { return }
            for id in earlier where try transaction.get(id, from: WebPushStore.keys) != nil {
                try transaction.delete(id, from: WebPushStore.keys)
            }
        }
        try await refresh()
        return try await current()
    }

    /// - Parameter id: The first key has the least id, so that two instances that start at the same time cannot both store one.
    private static func newKey(id: ObjectID = ObjectID()) -> VAPIDKeyDocument {
        let key = P256.Signing.PrivateKey(compactRepresentable: false)
        return VAPIDKeyDocument(id: id, privateKey: Secret(key.rawRepresentation.base64URL), created: .now)
    }

    /// Oldest first.
    private func read() async throws -> [VAPIDKey] {
        let page = try await store.page(of: WebPushStore.keys, limit: 100)
        return try page.documents.map { try VAPIDKey($0.document) }
    }
}
