import NIOHTTP1
import Testing
import TestSupport

@Suite("The emulator's authorization")
struct AuthorizationTests {
    @Test("A send, or a change of topics, without a valid access token is refused")
    func aSendNeedsAnAccessToken() async throws {
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
                let topics = try await client.call(
                    .POST, "/iid/v1:batchAdd", token: token, #"{"to":"/topics/t","registration_tokens":["x"]}"#)
                #expect(topics.status == 401 && (topics.object["error"] as? String)?.isEmpty == false)
            }
            #expect(try await client.send(body, token: "owner").status == 200)
        }
    }

    @Test("A token for another scope is issued, and refused by every other endpoint")
    func scopes() async throws {
        try await withEmulator { client in
            let account = try ServiceAccountHolder(in: client.folder)
            var claims = account.claims
            claims.scope = "https://www.googleapis.com/auth/devstorage.read_only email"
            let issued = try await client.requestToken(assertion: try await account.sign(claims))
            let token = try #require(issued.object["access_token"] as? String, "\(issued.text)")
            let send = try await client.send(#"{"message":{"topic":"t"}}"#, token: token)
            #expect(send.status == 403)
            #expect(
                send.text
                    == #"{"error":{"code":403,"message":"Request had insufficient authentication scopes.","#
                    + #""status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","#
                    + #""reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT","domain":"googleapis.com","#
                    + #""metadata":{"service":"fcm.googleapis.com","method":"google.firebase.fcm.v1.FcmService.SendMessage"}}]}}"#
            )
            #expect(send.headers.first(name: "WWW-Authenticate")?.contains("insufficient_scope") == true)
            let phone = try await client.registerPhone()
            let path = "/v1/projects/msi-emulator/registrations/\(phone)/topicSubscriptions"
            #expect(try await client.call(.GET, path, token: token).status == 403)
            let batch = try await client.call(
                .POST, "/iid/v1:batchAdd", headers: [("Authorization", "Bearer \(token)"), ("access_token_auth", "true")],
                body: Array(#"{"to":"/topics/t","registration_tokens":["\#(phone)"]}"#.utf8))
            #expect(batch.status == 403 && batch.object["error"] is String)
        }
    }

    @Test(
        "The Instance ID API takes an access token, also an administrator's, only with the header access_token_auth",
        arguments: [false, true])
    func instanceID(isAdministrator: Bool) async throws {
        try await withEmulator { client in
            let token =
                if isAdministrator { "owner" } else {
                    try await ServiceAccountHolder(in: client.folder).accessToken(from: client)
                }
            let phone = try await client.registerPhone()
            let body = Array(#"{"to":"/topics/t","registration_tokens":["\#(phone)"]}"#.utf8)
            for (extra, status) in [
                ([], 401), ([("access_token_auth", "false")], 401), ([("access_token_auth", "true")], 200),
            ] {
                let answer = try await client.call(
                    .POST, "/iid/v1:batchAdd", headers: [("Authorization", "Bearer \(token)")] + extra, body: body)
                #expect(answer.status == status, "\(extra)")
                #expect((answer.object["error"] as? String)?.contains("access_token_auth") == (status == 401 ? true : nil))
                let info = try await client.call(
                    .GET, "/iid/info/\(phone)", headers: [("Authorization", "Bearer \(token)")] + extra)
                #expect(info.status == status, "\(extra)")
            }
        }
    }
}
