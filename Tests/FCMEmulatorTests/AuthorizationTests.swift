import NIOHTTP1
import Testing

@Suite struct AuthorizationTests {
    @Test func aSendNeedsAnAccessToken() async throws {
        try await withEmulator { client in
            let body = #"{"message":{"topic":"t"}}"#
            for (token, reason) in [
                (nil, "CREDENTIALS_MISSING"), ("nonsense", "ACCESS_TOKEN_TYPE_UNSUPPORTED"),
                ("ya29.emulator.AAAA", "ACCESS_TOKEN_TYPE_UNSUPPORTED"),
            ] {
                let answer = try await client.send(body, token: token)
                #expect(answer.status == 401)
                #expect(answer.errorStatus == "UNAUTHENTICATED")
                #expect(answer.details.first?["reason"] as? String == reason)
                #expect(answer.fcmErrorCode == nil)
                #expect(answer.headers.first(name: "WWW-Authenticate")?.hasPrefix("Bearer") == true)
            }
            #expect(try await client.send(body, token: "owner").status == 200)
        }
    }

    @Test func anotherProjectIsForbidden() async throws {
        try await withEmulator { client in
            let answer = try await client.send(#"{"message":{"topic":"t"}}"#, project: "other")
            #expect(answer.status == 403)
            #expect(answer.errorStatus == "PERMISSION_DENIED")
        }
    }

    @Test func topicManagementNeedsAnAccessToken() async throws {
        try await withEmulator { client in
            let answer = try await client.call(
                .POST, "/iid/v1:batchAdd", token: "wrong", #"{"to":"/topics/t","registration_tokens":["x"]}"#)
            #expect(answer.status == 401)
            #expect((answer.json["error"] as? String)?.isEmpty == false)
        }
    }
}
