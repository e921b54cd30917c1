import Foundation
import Schemas
import TestSupport
import Testing

/// Bearer tokens, and what ends credentials.
@Suite("Tokens over HTTP", .timeLimit(.minutes(10)))
struct TokenTests {
    @Test("A token is for one's own account, shown once, has its rights alone, shows its last use, and ends with its revocation")
    func life() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube", "msi-message-log"]) { gateway in
            let path = try await gateway.makeSubject()
            let ann = try await gateway.newSession("ann")
            try await ann.confirm()
            let secret = try await ann.makeToken(["read"])
            #expect(secret.wholeMatch(of: /msi_[A-Za-z0-9_-]{43}/) != nil)
            let script = gateway.with(token: secret)
            #expect(try await script.request("GET", "/message").status == 200)
            let refused = try await script.request("POST", "/message", body: path.message())
            #expect(refused.status == 403 && (refused.object["detail"] as? String)?.contains("\"send\"") == true, "\(refused)")
            let session = try await script.request("GET", "/session").object
            #expect(session["kind"] as? String == "token" && session["rights"] as? [String] == ["read"])
            #expect(session["topics"] as? [String] == [])

            let list = try await ann.request("GET", "/token")
            let tokens = try #require(list.object["tokens"] as? [[String: Any]])
            #expect(tokens.count == 1 && !list.text.contains(secret))
            #expect(tokens[0]["last_used"] is Int64 && tokens[0]["last_address"] as? String == "127.0.0.1", "\(list)")
            let all = try await gateway.request("GET", "/token")
            #expect((all.object["tokens"] as? [Any])?.count == 2)

            let id = try #require(tokens[0]["id"] as? String)
            let bob = try await gateway.newSession("bob")
            try await bob.confirm()
            #expect(try await bob.request("DELETE", "/token/\(id)").status == 404)
            // A super user makes no tokens for others either; only the operator's token does.
            let root = try await gateway.newSession("root", "super_user")
            try await root.confirm()
            let anns = #"{"name":"t","account":"ann","rights":["read"]}"#
            for other in [bob, root] {
                let refused = try await other.request("POST", "/token", body: anns)
                #expect(refused.problem == "forbidden" && refused.object["field"] as? String == "account", "\(refused)")
            }
            #expect(try await gateway.request("POST", "/token", body: anns).status == 201)
            #expect(try await ann.request("DELETE", "/token/\(id)").status == 204)
            let revoked = try await script.request("GET", "/message")
            #expect(revoked.status == 401 && revoked["www-authenticate"] == "Bearer")
            // A token that is sent but not valid is an error everywhere, so that its owner notices.
            #expect(try await script.request("GET", "/channel").status == 401)
            expectCleanLog(of: gateway.process, secret: secret, "the token")
        }
    }

    @Test(
        "A new password, a disabled and a removed account end all its sign-ins and tokens at every gateway within a second",
        arguments: [
            ("PUT", "/account/ann/password", #"{"password":"another long password"}"# as String?, 200),
            ("PUT", "/account/ann", #"{"disabled":true}"#, 200), ("DELETE", "/account/ann", nil, 204),
        ])
    func ends(method: String, target: String, body: String?, status: Int) async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            let ann = try await gateway.newSession("ann")
            try await ann.confirm()
            let token = try await ann.makeToken(["read"])
            try await gateway.withSecond { second in
                #expect(try await ann.at(second).request("GET", "/session").status == 200)
                #expect(try await second.with(token: token).request("GET", "/session").status == 200)
                #expect(try await gateway.request(method, target, body: body).status == status)
                // At this gateway they have ended before the answer.
                #expect(try await ann.request("GET", "/session").status == 401)
                #expect(try await gateway.with(token: token).request("GET", "/session").status == 401)
                try await eventually {
                    let cookie = try await ann.at(second).request("GET", "/session").status
                    let bearer = try await second.with(token: token).request("GET", "/session").status
                    return cookie == 401 && bearer == 401
                }
            }
        }
    }

    @Test("One's own password requires the current one, another account's the right to administer")
    func passwords() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            let ann = try await gateway.newSession("ann")
            try await gateway.addAccount("bob")
            let new = "another long password"
            func change(_ account: String, _ fields: String) async throws -> HTTPAnswer {
                try await ann.request("PUT", "/account/\(account)/password", body: #"{"password":"\#(new)"\#(fields)}"#)
            }
            #expect(try await change("bob", "").problem == "forbidden")
            let missing = try await change("ann", "")
            #expect(missing.status == 400 && missing.object["field"] as? String == "current_password")
            #expect(try await change("ann", #","current_password":"a wrong one"# + "\"").status == 401)
            #expect(try await change("ANN", #","current_password":"\#(RunningGateway.password)""#).status == 200)
            _ = try await gateway.signIn("ann", password: new)
        }
    }

    @Test("A header that is no bearer token is refused, and a flood of wrong tokens harms no one")
    func wrongTokens() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            for value in ["Basic YW5uOng=", "Bearer", "Bearer a b", "msi_x", "", "Bearer msi_x"] {
                // A route that is for everyone does not wait for the check of a token.
                let answer = try await gateway.requestUntilTaken("GET", "/message", headers: ["Authorization": value])
                #expect(answer.status == 401 && answer.object["field"] as? String == "Authorization", "\(value): \(answer)")
            }
            let ann = try await gateway.newSession("ann")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<16 {
                    group.addTask {
                        for number in 0..<40 {
                            let token = "msi_\(client)-\(number)"
                            let answer = try await gateway.with(token: token).request("GET", "/session")
                            #expect([401, 503].contains(answer.status), "\(answer)")
                            let same = try await gateway.with(token: "msi_same").request("GET", "/session")
                            #expect([401, 503].contains(same.status), "\(same)")
                        }
                    }
                }
                for _ in 0..<40 { #expect(try await ann.request("GET", "/session").status == 200) }
                try await group.waitForAll()
            }
        }
    }
}
