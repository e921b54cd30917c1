import Base
import Crypto
import DeviceTokens
import FoundationEssentials
import Schemas
import Store

/// A key pair that signs the tokens of devices.
struct TokenKeyDocument: StoredDocument, Hashable {
    /// The `kid` of its tokens is this as text.
    let id: ObjectID
    /// In URL-safe Base64.
    let privateKey: Secret
    let created: UnixMilliseconds
    /// From then on it signs, until the next one does.
    let signsFrom: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case created
        case privateKey = "private_key"
        case signsFrom = "signs_from"
    }

    /// A new one.
    ///
    /// - Parameter pause: How long gateways know it before it signs.
    init(now: UnixMilliseconds, after pause: Milliseconds) {
        id = ObjectID()
        privateKey = Secret(P256.Signing.PrivateKey().rawRepresentation.base64URL)
        created = now
        signsFrom = now + pause
    }
}

extension PeopleStore {
    static let tokenKeys = Collection<TokenKeyDocument>("token_key", reserve: .everything)
}

extension TokenKeyDocument {
    /// For gateways.
    ///
    /// - Throws: As ``signed(_:)``.
    func announced() throws -> DeviceTokenKey {
        DeviceTokenKey(id: "\(id)", key: try pair.publicKey.x963Representation.base64URL)
    }

    /// A token.
    ///
    /// - Throws: ``CommandFailure`` with `internal` if the stored key is damaged. It does not contain the key.
    func signed(_ claims: DeviceTokenClaims) throws -> Secret {
        try DeviceToken.signed(claims, by: pair, id: "\(id)")
    }

    /// Somebody has changed it by hand. Then it neither signs nor is announced.
    var isDamaged: Bool { (try? pair) == nil }

    private var pair: P256.Signing.PrivateKey {
        get throws(CommandFailure) {
            guard let bytes = Data(base64URL: privateKey.text), let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
            else { throw CommandFailure(.internal, "the key \(id) in token_key is damaged; remove the document") }
            return key
        }
    }
}

extension Transaction {
    /// All keys, also damaged ones.
    func storedTokenKeys() throws -> [TokenKeyDocument] {
        try page(of: PeopleStore.tokenKeys, limit: 100).documents.map(\.document)
    }

    /// The keys whose tokens count, the one that signs last at the end.
    func tokenKeys() throws -> [TokenKeyDocument] {
        try storedTokenKeys().filter { !$0.isDamaged }.sorted { ($0.signsFrom, $0.id) < ($1.signsFrom, $1.id) }
    }

    /// These keys for gateways.
    func announcedKeys() throws -> [DeviceTokenKey] { try tokenKeys().map { try $0.announced() } }

    /// The key that signs at a time.
    ///
    /// - Throws: ``CommandFailure`` with `unavailable` if there is none, since somebody has removed the documents: one is made within a minute.
    func signingKey(at now: UnixMilliseconds) throws -> TokenKeyDocument {
        let keys = try tokenKeys()
        // If the clock was set back, none may sign yet.
        guard let key = keys.last(where: { $0.signsFrom <= now }) ?? keys.first else {
            throw CommandFailure(.unavailable, "the key of devices' tokens is being made; try again", retryAfter: .seconds(1))
        }
        return key
    }
}
