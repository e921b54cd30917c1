import Crypto
import FoundationEssentials
import Base
import Schemas
import Store

/// Data that this service gives to a browser or a gateway and reads again later, sealed so that its holder can neither read nor change it.
protocol SealedText: Codable, Sendable {
    /// A sealed text of one kind is not accepted as another kind.
    static var kind: String { get }
    static var lifetime: Milliseconds { get }
    var made: UnixMilliseconds { get }
}

extension SealedText {
    func sealed(by key: SymmetricKey) throws -> Secret {
        let box = try ChaChaPoly.seal(JSONCoder.encode(self), using: key, authenticating: Data(Self.kind.utf8))
        return Secret(box.combined.base64URL)
    }

    /// - Throws: ``CommandFailure`` with `unauthenticated` if it is not sealed by the key, or too old.
    init(_ sealed: Secret, key: SymmetricKey, now: UnixMilliseconds) throws {
        guard let data = Data(base64URL: sealed.text), let box = try? ChaChaPoly.SealedBox(combined: data),
            let json = try? ChaChaPoly.open(box, using: key, authenticating: Data(Self.kind.utf8)),
            let opened = try? JSONCoder.decode(Self.self, from: json)
        else { throw CommandFailure(.unauthenticated, "the sign-in was not begun here; begin again") }
        guard now < opened.made + Self.lifetime else {
            throw CommandFailure(.unauthenticated, "the sign-in took too long; begin again")
        }
        self = opened
    }
}

/// A stored key.
struct SealingKey: StoredDocument, Hashable {
    /// The id of the key of ``OpenIDSignIn``.
    static let id = "oidc"

    let id: String
    /// In Base64.
    let bytes: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case bytes
    }

    /// - Throws: ``CommandFailure`` with `internal` if the document is damaged.
    var key: SymmetricKey {
        get throws(CommandFailure) {
            guard let data = Data(base64Encoded: bytes), data.count == 32 else {
                throw CommandFailure(.internal, "the key in people_key is damaged; remove the document")
            }
            return SymmetricKey(data: data)
        }
    }
}

extension Storage {
    /// A key that seals texts. The first call makes it. All instances of the service use the same one.
    ///
    /// - Throws: ``CommandFailure``.
    func sealingKey(_ id: String) async throws -> SymmetricKey {
        if let stored = try await get(id, from: PeopleStore.keys)?.document { return try stored.key }
        let new = SealingKey(id: id, bytes: Data.random(count: 32).base64EncodedString())
        do {
            return try await insert(new, into: PeopleStore.keys).document.key
        } catch let failure as CommandFailure where failure.status == .conflict {
            // Another instance was faster.
            guard let stored = try await get(id, from: PeopleStore.keys)?.document else { throw failure }
            return try stored.key
        }
    }
}
