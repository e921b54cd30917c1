import Foundation
import Base
import JWTKit
import NIOHTTP1
import Schemas
import Testing
import TestSupport

@testable import FCMEmulator

@Suite("The emulator's token endpoint")
struct TokenEndpointTests {
    @Test("A signed request gets an access token that can be used to send")
    func aSignedRequestGetsATokenThatSends() async throws {
        try await withEmulator { client in
            let account = try ServiceAccountHolder(in: client.folder)
            #expect(account.tokenURI == "https://127.0.0.1:\(client.port)/token")
            let answer = try await client.requestToken(assertion: try await account.sign(account.claims))
            #expect(answer.status == 200)
            #expect(answer.object["expires_in"] as? Int == 3_599)
            #expect(answer.object["token_type"] as? String == "Bearer")
            let token = try #require(answer.object["access_token"] as? String)
            #expect(token.hasPrefix("ya29."))
            #expect(try await client.send(#"{"message":{"topic":"t"}}"#, token: token).status == 200)
        }
    }

    @Test("The service account and its access tokens are still valid after a restart")
    func aRestartKeepsTheAccountAndItsTokens() async throws {
        try await TemporaryFolder.with { folder in
            let token = try await withEmulator(in: folder) { client in
                try await ServiceAccountHolder(in: folder).accessToken(from: client)
            }
            let authority = try folder.text(of: "ca.pem")
            let before = try folder.text(of: "service-account.json")
            try await withEmulator(in: folder) { client in
                #expect(try await client.send(#"{"message":{"topic":"t"}}"#, token: token).status == 200)
                let after = try folder.text(of: "service-account.json")
                let changed = zip(before.split(separator: "\n"), after.split(separator: "\n")).filter { $0 != $1 }
                #expect(changed.allSatisfy { $1 == "  \"token_uri\": \"https://127.0.0.1:\(client.port)/token\"," })
                #expect(before.split(separator: "\n").count == after.split(separator: "\n").count)
            }
            #expect(try folder.text(of: "ca.pem") == authority)
        }
    }

    @Test("A wrong token request is refused with Google's error")
    func refusalsAreGoogles() async throws {
        try await withEmulator { client in
            let account = try ServiceAccountHolder(in: client.folder)
            let now = Int(Date().timeIntervalSince1970)
            func claims(_ change: (inout ServiceAccountHolder.Claims) -> Void) async throws -> String {
                var claims = account.claims
                change(&claims)
                return try await account.sign(claims)
            }
            let stranger = try Insecure.RSA.PrivateKey(pem: String(decoding: Self.strangersKey(), as: UTF8.self))
            let refused: [(String, String)] = [
                ("invalid_grant", try await ServiceAccountHolder.sign(account.claims, with: stranger)),
                ("invalid_grant", try await account.sign(account.claims, digest: .sha512)),
                ("invalid_grant", try await claims { $0.iss = "somebody@else.example" }),
                ("invalid_grant", try await claims { $0.iss = nil }),
                ("invalid_grant", try await claims { $0.aud = "https://127.0.0.1:1/token" }),
                ("invalid_grant", try await claims { $0.exp = $0.iat.map { $0 + 3_601 } }),
                ("invalid_grant", try await claims { ($0.iat, $0.exp) = (now - 3_700, now - 100) }),
                ("invalid_grant", try await claims { ($0.iat, $0.exp) = (now + 120, now + 3_000) }),
                ("invalid_grant", try await claims { $0.exp = nil }),
                ("invalid_scope", try await claims { $0.scope = "https://example.org/auth/drive" }),
                ("invalid_scope", try await claims { $0.scope = nil }),
                ("invalid_grant", "not-a-token"),
                ("invalid_grant", "a.b.c"),
            ]
            for (code, assertion) in refused {
                let answer = try await client.requestToken(assertion: assertion)
                #expect(answer.status == 400)
                #expect(answer.object["error"] as? String == code, "\(answer.text)")
                #expect((answer.object["error_description"] as? String)?.isEmpty == false)
            }
            let good = try await account.sign(account.claims)
            let noGrant = try await client.requestToken(assertion: good, grantType: nil)
            #expect(noGrant.object["error"] as? String == "invalid_request")
            let otherGrant = try await client.requestToken(assertion: good, grantType: "password")
            #expect(otherGrant.object["error"] as? String == "unsupported_grant_type")
            let nothing = try await client.requestToken(assertion: nil)
            #expect(nothing.object["error"] as? String == "invalid_request")
            // A clock that is slightly ahead is accepted.
            let ahead = try await claims { ($0.iat, $0.exp) = (now + 30, now + 3_630) }
            #expect(try await client.requestToken(assertion: ahead).status == 200)
            // Google's own libraries always claim Google's endpoint as the audience, and ignore the key file's.
            let google = try await claims { $0.aud = "https://oauth2.googleapis.com/token" }
            #expect(try await client.requestToken(assertion: google).status == 200)
            let cloud = try await claims { $0.scope = "email https://www.googleapis.com/auth/cloud-platform" }
            #expect(try await client.requestToken(assertion: cloud).status == 200)
        }
    }

    @Test("A token has the configured lifetime by the emulated clock, and is refused with Google's error afterwards")
    func expiry() async throws {
        try await withEmulator(behaviour: ["oauth": ["token_life_s": .integer(60)]]) { client in
            let account = try ServiceAccountHolder(in: client.folder)
            let answer = try await client.requestToken(assertion: try await account.sign(account.claims))
            #expect(answer.object["expires_in"] as? Int == 60)
            let token = try #require(answer.object["access_token"] as? String)
            let body = #"{"message":{"topic":"t"}}"#
            #expect(try await client.send(body, token: token).status == 200)
            let put = try await client.call(.PUT, "/emulator/oauth", token: nil, #"{"clock_offset_s":61,"token_life_s":90}"#)
            #expect(put.text == #"{"token_life_s":90,"clock_offset_s":61}"#)
            let expired = try await client.send(body, token: token)
            #expect(expired.status == 401 && expired.errorStatus == "UNAUTHENTICATED" && expired.fcmErrorCode == nil)
            #expect(expired.details.first?["reason"] as? String == "ACCESS_TOKEN_EXPIRED")
            #expect(try await client.subscribe([], to: "t").status == 400, "an administrator's does not expire")
            let topics = try await client.call(
                .POST, "/iid/v1:batchAdd",
                headers: [("Authorization", "Bearer \(token)"), ("access_token_auth", "true")], body: Array("{}".utf8))
            #expect(topics.status == 401 && topics.object["error"] is String)
            // A new token is valid, although Google's clock is a minute ahead.
            let renewed = try await account.accessToken(from: client)
            #expect(try await client.send(body, token: renewed).status == 200)

            // An hour and more, in either direction, is a skewed clock.
            for offset in [-7_200, 7_200] {
                _ = try await client.call(.PUT, "/emulator/oauth", token: nil, "{\"clock_offset_s\":\(offset)}")
                let skewed = try await client.requestToken(assertion: try await account.sign(account.claims))
                #expect(skewed.status == 400)
                #expect(skewed.object["error"] as? String == "invalid_grant")
                let text = skewed.object["error_description"] as? String
                #expect(text?.contains("Token must be a short-lived token (60 minutes)") == true, "\(skewed.text)")
            }
            #expect(try await client.call(.PUT, "/emulator/oauth", token: nil, #"{"token_life_s":0}"#).status == 400)
        }
    }

    @Test("An access token expires")
    func aTokenEnds() async throws {
        try await TemporaryFolder.with { folder in
            let tokens = try AccessTokens(in: try StateFolder(path: folder.path))
            let token = tokens.issue(now: 1_000_000, life: 3_599, isForMessaging: true)
            #expect(tokens.check(token, now: 1_000_000) == .valid)
            #expect(tokens.check(token, now: 4_598_999) == .valid)
            #expect(tokens.check(token, now: 4_599_000) == .expired)
            #expect(tokens.check(String(token.dropLast(8)) + "AAAAAAAA", now: 1_000_000) == .unknown)
            let another = tokens.issue(now: 1_000_000, life: 3_599, isForMessaging: false)
            #expect(tokens.check(another, now: 1_000_000) == .ofAnotherScope)
            #expect(tokens.check(another, now: 4_599_000) == .expired)
        }
    }

    /// The key of an account that the emulator does not know, made by another emulator.
    private static func strangersKey() throws -> [UInt8] {
        let folder = NSTemporaryDirectory() + "/msi-stranger-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let state = try StateFolder(path: folder)
        try ServiceAccount(in: state).listen(on: 1)
        let file = try #require(try state.read("service-account.json"))
        return Array(try #require(try JSONValue(parsing: file)["private_key"]?.string).utf8)
    }
}
