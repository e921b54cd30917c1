import Base
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Schemas
import TestSupport
import Testing

@testable import IdentityEmulator

/// What tests order and change.
@Suite("Control of the identity emulator")
struct ControlTests {
    /// The header, the claims and the signature of a token.
    private func parts(_ token: Secret) throws -> (header: JSONValue, claims: JSONValue, signature: Data) {
        let parts = token.text.split(separator: ".", omittingEmptySubsequences: false).compactMap { Data(base64URL: $0) }
        try #require(parts.count == 3)
        return (try JSONValue(parsing: parts[0]), try JSONValue(parsing: parts[1]), parts[2])
    }

    @Test("Claims and fields of the header are changed, added and removed as ordered")
    func changes() async throws {
        try await withEmulator { emulator in
            let token = try await emulator.token(
                .google, of: "anyone",
                [.init("claims", ["exp": 1, "azp": .null, "hd": "example.edu"]), .init("header", ["jku": "x", "typ": .null])])
            let (header, claims, _) = try parts(token)
            #expect(claims["exp"] == 1 && claims["azp"] == nil && claims["hd"] == "example.edu" && claims["sub"] == "anyone")
            #expect(header["jku"] == "x" && header["typ"] == nil && header["alg"] == "RS256")
        }
    }

    @Test("Tokens that a verifier must refuse are signed as ordered", arguments: ["none", "nOnE", "HS256", "PS256"])
    func algorithms(name: String) async throws {
        try await withEmulator { emulator in
            let token = try await emulator.token(.firebase, of: dana, [.init("alg", .string(name))])
            let (header, _, signature) = try parts(token)
            #expect(header["alg"]?.string == name)
            #expect(signature.count == (name.lowercased() == "none" ? 0 : name == "HS256" ? 32 : 256))
            let error = await #expect(throws: (any Error).self) {
                try await emulator.claims(of: token.text, keys: KeyPath.firebase)
            }
            #expect(error != nil)
        }
    }

    @Test("A rotation publishes another key; tokens of the one before, and of one that never was published, do not verify")
    func keys() async throws {
        try await withEmulator { emulator in
            func published() async throws -> String? {
                try await emulator.call(.GET, KeyPath.google).json["keys"]?.elements?.first?["kid"]?.string
            }
            let before = try await emulator.token(.google, of: dana)
            let first = try #require(try await published())
            #expect(try parts(before).header["kid"]?.string == first)
            try await emulator.rotateKeys(of: .google)
            let second = try #require(try await published())
            #expect(second != first)
            let withdrawn = try await emulator.token(.google, of: dana, [.init("key", "withdrawn")])
            #expect(try parts(withdrawn).header["kid"]?.string == first)
            let unknown = try await emulator.token(.google, of: dana, [.init("key", "unknown")])
            for token in [before, withdrawn, unknown] {
                await #expect(throws: (any Error).self) { try await emulator.claims(of: token.text) }
            }
            #expect(try await emulator.claims(of: try await emulator.token(.google, of: dana).text)["sub"]?.string == dana)
            #expect(try await emulator.call(.POST, "/control/keys/facebook/rotate").status == 404)
        }
    }

    @Test("A fault answers as ordered, for one provider, until it is ended; requests are counted by their paths")
    func faults() async throws {
        try await withEmulator { emulator in
            let body: JSONValue = ["error": ["code": 4, "message": "(#4) Application request limit reached"]]
            try await emulator.setFault(["status": 400, "body": body], of: .facebook)
            try await emulator.setFault(["status": 503, "delay": 50], of: .google)
            let refused = try await emulator.call(.GET, "/facebook/v25.0/me")
            #expect(try refused.status == 400 && refused.json == body)
            let start = ContinuousClock.now
            #expect(try await emulator.call(.GET, KeyPath.google).status == 503)
            #expect(.now - start >= .milliseconds(50))
            #expect(try await emulator.call(.GET, KeyPath.firebase).status == 200)
            try await emulator.setFault(["drop": true], of: .google)
            await #expect(throws: (any Error).self) { try await emulator.call(.GET, KeyPath.google) }
            // The page does not have the faults of the servers.
            let page = "/google/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=id_token&scope=openid&nonce=n"
            #expect(try await emulator.call(.GET, page + "&redirect_uri=http://127.0.0.1/").status == 200)
            try await emulator.setFault([:], of: .google)
            #expect(try await emulator.call(.GET, KeyPath.google).status == 200)
            #expect(try await emulator.requests(to: KeyPath.google) >= 3)
            #expect(try await emulator.requests(to: KeyPath.firebase) == 1)
            #expect(try await emulator.requests(to: "/facebook/v25.0/me") == 1)
        }
    }

    @Test(
        "An order that makes no sense is refused with its field or the providers' names",
        arguments: [
            (.POST, "/control/token", #"{"provider":"google"}"#, "sub"),
            (.POST, "/control/token", #"{"provider":"github","sub":"1"}"#, "google"),
            (.POST, "/control/token", #"{"provider":"google","sub":"1","claim":{}}"#, "claim"),
            (.POST, "/control/token", #"{"provider":"google","sub":"1","claims":[]}"#, "claims"),
            (.POST, "/control/token", #"{"provider":"google","sub":"1","key":"old"}"#, "withdrawn"),
            (.POST, "/control/token", #"{"provider":"facebook","sub":"1","alg":"none"}"#, "alg"),
            (.POST, "/control/keys/github/rotate", "", "google, firebase, facebook"),
            (.PUT, "/control/faults/google", #"{"status":99}"#, "status"),
            (.PUT, "/control/faults/google", #"{"body":{}}"#, "status"),
            (.PUT, "/control/faults/google", #"{"delay":60001}"#, "delay"),
            (.PUT, "/control/people/a%20b", "{}", "identifier"), (.PUT, "/control/people/a", "[]", "object"),
            (.PUT, "/control/people/a", "{", "JSON"), (.PUT, "/control/people/a", String(repeating: " ", count: 20_000), "16384"),
        ] as [(HTTPMethod, String, String, String)])
    func refused(method: HTTPMethod, path: String, body: String, text: String) async throws {
        try await withEmulator { emulator in
            let answer = try await emulator.http.answer(
                method, emulator.url + path, body: Data(body.utf8), within: .seconds(60))
            #expect([400, 404, 413].contains(answer.status), "\(answer)")
            #expect(try answer.json["error"]?.string?.contains(text) == true, "\(answer)")
        }
    }
}
