import Base
import JWTKit
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import People

/// A place of keys that a test changes.
private final class KeyPlace: Sendable {
    private let state: Mutex<(keys: [JWK], isAway: Bool, requests: Int)>

    init(_ identifiers: String...) { state = Mutex((identifiers.map(Self.key), false, 0)) }

    private static func key(_ identifier: String) -> JWK {
        JWK.rsa(.rs256, identifier: JWKIdentifier(string: identifier), modulus: "AAAA", exponent: "AQAB")
    }

    var requests: Int { state.withLock(\.requests) }

    func publish(_ identifiers: String...) { state.withLock { $0.keys = identifiers.map(Self.key) } }

    func fail(_ isAway: Bool = true) { state.withLock { $0.isAway = isAway } }

    func read() throws -> [JWK] {
        try state.withLock { state in
            state.requests += 1
            if state.isAway { throw CommandFailure(.unavailable, "away") }
            return state.keys
        }
    }
}

@Suite("The keys of providers")
struct ProviderKeyTests {
    private func keys(of place: KeyPlace, lifetime: Duration = .seconds(600), minAge: Duration = .seconds(60)) -> ProviderKeys {
        var times = ProviderTimes()
        times.failureLifetime = .zero
        times.keyLifetime = lifetime
        times.minKeyAge = minAge
        return ProviderKeys(times) { try place.read() }
    }

    private func isKnown(_ identifier: String?, _ keys: ProviderKeys) async throws -> Bool {
        do {
            _ = try await keys.key(identifier)
            return true
        } catch let refusal as IDTokenRefusal {
            #expect(refusal == .key)
            return false
        }
    }

    @Test("Unknown keys cause one request in a while, and known ones none")
    func unknown() async throws {
        let place = KeyPlace("1")
        let keys = keys(of: place)
        #expect(await keys.age == nil)
        #expect(try await isKnown("1", keys) && place.requests == 1)
        place.publish("1", "2")
        await withTaskGroup { group in
            for number in 2..<100 {
                group.addTask { await #expect(throws: IDTokenRefusal.key) { try await keys.key("\(number)") } }
            }
        }
        #expect(place.requests == 1)
        #expect(await keys.age != nil)
    }

    @Test("A new key is read, and a withdrawn one ends with the keys that were kept")
    func rotation() async throws {
        let place = KeyPlace("1")
        let eager = keys(of: place, minAge: .zero)
        #expect(try await isKnown("1", eager))
        place.publish("2")
        #expect(try await isKnown("2", eager))
        #expect(try await !isKnown("1", eager))
        let kept = keys(of: place, lifetime: .zero)
        #expect(try await isKnown("2", kept))
        place.publish("3")
        #expect(try await !isKnown("2", kept))
    }

    @Test("While they cannot be read, the latest ones count, and an unknown key may be a new one")
    func outage() async throws {
        let place = KeyPlace("1")
        let keys = keys(of: place, lifetime: .zero, minAge: .zero)
        place.fail()
        await #expect(throws: CommandFailure.self) { try await keys.key("1") }
        place.fail(false)
        #expect(try await isKnown("1", keys))
        place.fail()
        #expect(try await isKnown("1", keys))
        let failure = await #expect(throws: CommandFailure.self) { try await keys.key("2") }
        #expect(failure?.status == .unavailable)
    }

    @Test("Without an identifier there must be one key")
    func single() async throws {
        let place = KeyPlace("1")
        #expect(try await isKnown(nil, keys(of: place)))
        place.publish("1", "2")
        #expect(try await !isKnown(nil, keys(of: place)))
    }

    @Test("The keys of examples in RFCs are refused, whoever publishes them")
    func published() {
        let example = JWK.ecdsa(
            .es256, identifier: "1", x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", curve: .p256)
        #expect(PublishedKeys.contain(example))
        #expect(!PublishedKeys.contain(JWK.ecdsa(.es256, identifier: "1", x: example.y, y: example.x, curve: .p256)))
        let edwards = JWK.octetKeyPair(
            .eddsa, identifier: "1", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", y: nil, curve: .ed25519)
        #expect(PublishedKeys.contain(edwards))
    }
}

/// What Facebook says about a token.
@Suite("Facebook's tokens")
struct FacebookTests {
    private static let now: UnixMilliseconds = 1_796_000_000_000
    private static let data: JSONValue = [
        "app_id": "1234567890", "type": "USER", "application": "Campus", "is_valid": true, "user_id": "17",
        "expires_at": .integer(now.seconds + 7_200), "scopes": ["public_profile"],
    ]

    private func token(_ changes: JSONValue) throws(IDTokenRefusal) -> FacebookToken {
        try FacebookToken(["data": .changed(Self.data, changes)], appID: "1234567890", now: Self.now)
    }

    @Test("A valid token of this app names its person, and is remembered until it ends, at most ninety days")
    func valid() throws {
        let read = try token([:])
        #expect(read.person == "17" && read.expires == Self.now + .seconds(7_200))
        #expect(try token(["app_id": 1_234_567_890, "user_id": 17]) == read)
        let latest = Self.now + .seconds(90 * 86_400)
        #expect(try token(["expires_at": 0]).expires == latest)
        #expect(try token(["expires_at": .integer(Self.now.seconds + 100 * 86_400)]).expires == latest)
    }

    @Test(
        "Another token is refused, with the reason",
        arguments: [
            (["is_valid": false], .invalid), (["is_valid": "true"], .invalid), (["is_valid": .null], .invalid),
            (["app_id": "987"], .audience), (["app_id": .null], .audience), (["app_id": "12345678900"], .audience),
            (["type": "PAGE"], .kind), (["type": "APP"], .kind), (["type": .null], .kind),
            (["expires_at": .integer(now.seconds)], .expired), (["expires_at": .null], .expired), (["expires_at": "0"], .expired),
            (["user_id": .null], .subject), (["user_id": ""], .subject),
        ] as [(JSONValue, IDTokenRefusal)])
    func refused(changes: JSONValue, reason: IDTokenRefusal) {
        #expect(throws: reason) { try token(changes) }
    }

    @Test("An error says whether the token is bad, or Facebook cannot be asked now")
    func errors() {
        let client = ProviderClient("Facebook", timeout: .seconds(1))
        for code in [102, 190] {
            #expect(FacebookError(["code": .integer(code), "message": "x"]).failure(client) as? IDTokenRefusal == .invalid)
        }
        for code in [1, 2, 4, 17, 32, 341, 613] {
            let failure = FacebookError(["code": .integer(code), "message": "the token EAAB"]).failure(client) as? CommandFailure
            #expect(failure?.status == .unavailable && failure?.retryAfter == .seconds(60))
            #expect(failure?.message.contains("EAAB") == false)
        }
        let another: JSONValue = [
            "code": 100, "message": "(#100) The App_id in the input_token did not match the Viewing App",
        ]
        #expect(FacebookError(another).failure(client, isAboutApp: true) as? IDTokenRefusal == .audience)
        // The secret in the settings is wrong, which is no person's fault.
        let own = FacebookError(["code": 190]).failure(client, isAboutApp: true) as? CommandFailure
        #expect(own?.status == .unavailable)
        for error in [["code": 100], ["code": "190"], [:]] as [JSONValue] {
            let failure = FacebookError(error).failure(client) as? CommandFailure
            #expect(failure?.status == .unavailable && failure?.retryAfter == nil)
        }
    }

    @Test("The proof of the app's secret is that of Facebook's documents")
    func proof() {
        #expect(
            FacebookLogin.proof(of: Secret("user-token"), by: Secret("app-secret"))
                == "b5a94d985eb7b68467d28ca5375162d12b9ca8fe238615acc927c8a9c08d2e95")
    }
}
