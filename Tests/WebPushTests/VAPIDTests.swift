import Crypto
import FoundationEssentials
import Base
import Schemas
import Store
import TestSupport
import Testing
import WebPushKeys

@testable import WebPush
@testable import WebPushStore

/// The signature of pushes (RFC 8292), by the rules that py-vapid checks.
@Suite("VAPID", .timeLimit(.minutes(10)))
struct VAPIDTests {
    private struct Header: Decodable {
        let typ: String
        let alg: String
    }

    private struct Claims: Decodable {
        let aud: String
        let exp: Int64
        let sub: String
    }

    /// Reads the header `Authorization` as a push service does.
    private static func check(_ header: String) throws -> (claims: Claims, key: String) {
        let match = try #require(header.wholeMatch(of: /vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)/))
        let part = { (text: Substring) in try #require(Data(base64URL: text)) }
        let token = try JSONCoder.decode(Header.self, from: part(match.1))
        #expect(token.typ == "JWT" && token.alg == "ES256")
        let point = try part(match.4)
        #expect(point.count == 65 && point.first == 4)
        let key = try P256.Signing.PublicKey(x963Representation: point)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: part(match.3))
        #expect(key.isValidSignature(signature, for: Data("\(match.1).\(match.2)".utf8)))
        return (try JSONCoder.decode(Claims.self, from: part(match.2)), String(match.4))
    }

    private static let key = VAPIDKey(id: ObjectID(), P256.Signing.PrivateKey())

    @Test("A token names the push service's origin, the contact and an end within 24 hours, and has a valid signature")
    func claims() throws {
        let now = UnixMilliseconds.now
        let tokens = VAPIDTokens(contact: "mailto:it@example.edu")
        let (claims, key) = try Self.check(tokens.authorization(for: "https://push.example.org:8443", by: Self.key, now: now))
        #expect(claims.aud == "https://push.example.org:8443" && claims.sub == "mailto:it@example.edu")
        #expect(claims.exp > now.seconds + 12 * 3_600 && claims.exp <= now.seconds + 24 * 3_600)
        #expect(key == Self.key.publicKey)
    }

    @Test("A token is kept for twelve hours for each push service and key, and longer than that it is still valid")
    func kept() throws {
        let now = UnixMilliseconds.now
        let tokens = VAPIDTokens(contact: "https://example.edu/push")
        func token(_ origin: String, _ key: VAPIDKey = Self.key, after time: Milliseconds = 0) throws -> String {
            try tokens.authorization(for: origin, by: key, now: now + time)
        }
        let first = try token("https://a.example")
        #expect(try token("https://a.example", after: .seconds(12 * 3_600 - 1)) == first)
        #expect(try token("https://b.example") != first)
        #expect(try token("https://a.example", VAPIDKey(id: ObjectID(), P256.Signing.PrivateKey())) != first)
        let second = try token("https://a.example", after: .seconds(12 * 3_600))
        #expect(try second != first && Self.check(second).claims.exp > Self.check(first).claims.exp)
        // The clock was set back.
        #expect(try token("https://a.example") != second)
    }

    @Test("The key pair is made once, and stays after a restart", arguments: StoreKind.allCases)
    func firstStart(kind: StoreKind) async throws {
        try await withWebPushStore(kind) { store, _ in
            async let one = VAPIDKeys(store: store).current()
            async let other = VAPIDKeys(store: store).current()
            let keys = try await [one, other, VAPIDKeys(store: store).current()]
            #expect(Set(keys.map(\.publicKey)).count == 1 && Set(keys.map(\.id)).count == 1)
        }
    }

    @Test(
        "After a rotation browsers get the new key, and earlier subscriptions keep theirs until it is removed",
        arguments: StoreKind.allCases)
    func rotation(kind: StoreKind) async throws {
        try await withWebPushStore(kind) { store, _ in
            let (keys, other) = (VAPIDKeys(store: store), VAPIDKeys(store: store))
            let first = try await keys.current()
            _ = try await other.current()
            let second = try await keys.rotate(forgetting: false)
            #expect(second.publicKey != first.publicKey)
            #expect(try await keys.current().id == second.id)
            #expect(try await keys.key(first.id)?.publicKey == first.publicKey)
            // Another instance.
            #expect(try await other.key(second.id)?.publicKey == second.publicKey)
            let third = try await keys.rotate(forgetting: true)
            #expect(try await keys.key(first.id) == nil)
            #expect(try await keys.key(second.id) == nil)
            try await other.refresh()
            #expect(try await other.current().publicKey == third.publicKey)
        }
    }

    @Test("No error and no text of a key shows the private key")
    func secrecy() async throws {
        let document = VAPIDKeyDocument(id: ObjectID(), privateKey: Secret("broken-secret"), created: .now)
        #expect(!"\(document)".contains("broken-secret"))
        let failure = #expect(throws: CommandFailure.self) { try VAPIDKey(document) }
        #expect(failure?.message.contains("broken-secret") == false && failure?.status == .internal)
    }
}
