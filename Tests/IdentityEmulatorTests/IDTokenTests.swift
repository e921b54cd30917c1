import Base
import NIOHTTP1
import Schemas
import TestSupport
import Testing

@testable import IdentityEmulator

/// The ID tokens of Google and Firebase, and their keys.
@Suite("ID tokens of the identity emulator")
struct IDTokenTests {
    @Test("Google's have the claims of the scopes that were asked for")
    func google() async throws {
        try await withEmulator { emulator in
            let claims = try await emulator.claims(of: try await emulator.token(.google, of: dana).text)
            #expect(claims["iss"] == "https://accounts.google.com" && claims["aud"] == "hub.apps.example")
            #expect(claims["azp"] == claims["aud"] && claims["email_verified"] == true && claims["given_name"] == "Dana")
            let (issued, expires) = (try #require(claims["iat"]?.integer), try #require(claims["exp"]?.integer))
            #expect(expires - issued == 3_600 && abs(issued - UnixMilliseconds.now.seconds) < 120)
        }
        let person = EmulatedPerson.samples[0]
        let bare = ProviderClaims.google(person, scopes: ["openid"], now: .now)
        #expect(bare["email"] == nil && bare["email_verified"] == nil && bare["name"] == nil && bare["sub"]?.string == dana)
        #expect(ProviderClaims.google(person, scopes: ["openid", "email"], now: .now)["email"] == "dana@example.edu")
    }

    @Test("Firebase's are of the project, and two of the same second differ")
    func firebase() async throws {
        try await withEmulator { emulator in
            let tokens = [try await emulator.token(.firebase, of: dana), try await emulator.token(.firebase, of: dana)]
            #expect(tokens[0] != tokens[1])
            let claims = try await emulator.claims(of: tokens[0].text, keys: KeyPath.firebase)
            #expect(claims["iss"] == "https://securetoken.google.com/hub-example" && claims["aud"] == "hub-example")
            #expect(claims["user_id"] == claims["sub"] && claims["auth_time"] == claims["iat"])
            #expect(claims["firebase"]?["sign_in_provider"] == "password" && claims["firebase"]?["tenant"] == nil)
            #expect(claims["firebase"]?["identities"]?["email"] == ["dana@example.edu"])
        }
    }

    @Test("Google's own library verifies both")
    func verifier() async throws {
        try await withEmulator { emulator in
            let (google, firebase) = (try await emulator.token(.google, of: dana), try await emulator.token(.firebase, of: dana))
            let output = try await PythonScript.run("drive_identity.py", [emulator.url, google.text, firebase.text])
            #expect(output.split(separator: "\n").last == "all of it works", "\(output)")
        }
    }

    @Test("tokeninfo has every value as a text, and refuses an expired token and one of another key")
    func tokenInfo() async throws {
        try await withEmulator { emulator in
            func info(_ changes: [JSONValue.Member] = []) async throws -> HTTPAnswer {
                let token = try await emulator.token(.google, of: dana, changes)
                return try await emulator.call(.GET, "/google/oauth2/v3/tokeninfo?id_token=\(token.text)")
            }
            let good = try await info()
            #expect(good.status == 200)
            let members = try #require(try good.json.members)
            #expect(members.allSatisfy { $0.value.string != nil } && members.contains { $0.name == "kid" })
            #expect(try good.json["email_verified"] == "true")
            for bad in [JSONValue.Member("claims", ["exp": 1]), .init("key", "unknown"), .init("alg", "none")] {
                let answer = try await info([bad])
                #expect(answer.status == 400 && answer.text == #"{"error_description":"Invalid Value"}"#)
            }
            #expect(try await emulator.call(.GET, "/google/oauth2/v3/tokeninfo").status == 400)
        }
    }

    @Test("The discovery document names the page and the keys, and Google's keys may be kept for a while")
    func discovery() async throws {
        try await withEmulator { emulator in
            let document = try await emulator.call(.GET, "/google/.well-known/openid-configuration").json
            #expect(document["jwks_uri"]?.string == emulator.url + KeyPath.google)
            #expect(document["authorization_endpoint"]?.string == emulator.url + "/google/o/oauth2/v2/auth")
            #expect(document["issuer"] == "https://accounts.google.com")
            #expect(try await emulator.call(.GET, KeyPath.google)["Cache-Control"]?.contains("max-age=") == true)
        }
    }
}
