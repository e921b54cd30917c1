import Foundation
import Schemas
import TestSupport
import Testing
import Base

@testable import People

/// Signing in, confirming the password, and signing out.
@Suite("Sessions over HTTP", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test("A sign-in sets a cookie that scripts and other sites cannot use, and ends everywhere with the sign-out")
    func cookie() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            try await gateway.addAccount("ann")
            let answer = try await gateway.with(token: nil).request(
                "POST", "/session", body: #"{"account":"Ann","password":"\#(RunningGateway.password)"}"#)
            #expect(answer.status == 201 && answer["location"] == "/session")
            let cookie = try #require(answer["set-cookie"])
            let attributes = Set(cookie.split(separator: ";").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) })
            #expect(attributes == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Lax"])
            #expect(cookie.prefix { $0 != ";" }.wholeMatch(of: /msi_session=[A-Za-z0-9_-]{43}/) != nil)

            let ann = BrowserSession(
                gateway: gateway, account: "ann", password: "", cookie: String(cookie.prefix { $0 != ";" }))
            let session = try await ann.request("GET", "/session").object
            #expect(session["account"] as? String == "ann" && session["role"] as? String == "communicator")
            #expect(session["kind"] as? String == "sign_in" && session["rights"] as? [String] == ["read", "send"])
            #expect(session["second_factor"] as? String == "none" && session["confirmed_until"] == nil)
            let rest = try #require(session["expires"] as? Int64) - Int64.nowInMilliseconds
            #expect((0...(12 * 3_600_000)).contains(rest))

            try await gateway.withSecond { second in
                #expect(try await ann.at(second).request("GET", "/session").status == 200)
                let out = try await ann.request("DELETE", "/session")
                #expect(out.status == 204 && out["set-cookie"]?.contains("Max-Age=0") == true)
                #expect(try await ann.request("GET", "/session").problem == "unauthenticated")
                try await eventually { try await ann.at(second).request("GET", "/session").status == 401 }
                // The page still shows what everyone may see.
                #expect(try await ann.request("GET", "/channel").status == 200)
            }
            expectCleanLog(of: gateway.process, secret: String(cookie.dropFirst(12).prefix(43)), "the cookie")
            expectCleanLog(of: gateway.process, secret: RunningGateway.password, "the password")
        }
    }

    @Test("Readers of messages read what people are called now, and a removed account has no name")
    func displayNames() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            let (ann, ben) = try await (gateway.newSession("ann"), gateway.newSession("ben"))
            func names() async throws -> [String: String]? {
                let answer = try await ben.request("GET", "/display-name?accounts=ann,Ann,ben,nobody")
                #expect(answer.status == 200, "\(answer)")
                return answer.object["display_names"] as? [String: String]
            }
            #expect(try await names() == [:])
            for name in ["Ann Lee", "آن"] {
                let body = #"{"display_name":"\#(name)"}"#
                #expect(try await ann.request("PUT", "/account/ann/display-name", body: body).status == 200)
                #expect(try await names() == ["ann": name, "Ann": name])
            }
            #expect(try await gateway.request("DELETE", "/account/ann").status == 204)
            #expect(try await names() == [:])
            let many = (0...100).map { "a\($0)" }.joined(separator: ",")
            for query in ["", "?accounts=", "?accounts=ann,", "?accounts=a%20b", "?accounts=\(many)"] {
                let answer = try await ben.request("GET", "/display-name\(query)")
                #expect(answer.status == 400 && answer.object["field"] as? String == "accounts", "\(query): \(answer)")
            }
        }
    }

    @Test("A wrong name, a wrong password and a disabled account get the same answer; after many attempts it is 429")
    func wrongPassword() async throws {
        try await RunningGateway.with(services: ["msi-people"]) { gateway in
            for name in ["ann", "bob"] { try await gateway.addAccount(name) }
            #expect(try await gateway.request("PUT", "/account/bob", body: #"{"disabled":true}"#).status == 200)
            var details: Set<String> = []
            for (name, password) in [
                ("ann", "a wrong password"), ("bob", RunningGateway.password), ("nobody", RunningGateway.password), ("", "x"),
                ("no name!", "x"),
            ] where !name.isEmpty {
                let answer = try await attempt(gateway, name, password)
                #expect(answer.status == 401 && answer.problem == "unauthenticated" && answer["www-authenticate"] == "Bearer")
                #expect(answer["set-cookie"] == nil)
                details.insert(try #require(answer.object["detail"] as? String))
            }
            #expect(details.count == 1)
            let limited = try await eventually("too many attempts") {
                let answer = try await attempt(gateway, "ann", "a wrong password")
                return answer.status == 429 ? answer : nil
            }
            #expect(limited.problem == "too-many-requests" && limited["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            // Another account is not affected.
            #expect(try await attempt(gateway, "carl", "x").status == 401)
        }
    }

    private func attempt(_ gateway: RunningGateway, _ name: String, _ password: String) async throws -> HTTPAnswer {
        try await gateway.with(token: nil).request(
            "POST", "/session", body: #"{"account":"\#(name)","password":"\#(password)"}"#)
    }

    @Test("An invitation sets a password once and signs in, and its secret is in no log")
    func invitation() async throws {
        try await RunningGateway.with(services: ["msi-people"]) { gateway in
            let added = try await gateway.request(
                "POST", "/account", body: #"{"account":"ann","role":"communicator","invite":true,"display_name":"Ann Lee"}"#)
            #expect(added.status == 201 && added["location"] == "/account/ann", "\(added)")
            func secret(_ answer: HTTPAnswer) throws -> String {
                let invitation = try #require(answer.object["invitation"] as? [String: Any])
                let link = try #require(invitation["link_path"] as? String)
                return String(try #require(link.wholeMatch(of: /\/#invitation=(ann\.[A-Za-z0-9_-]{43})/)).1)
            }
            let first = try secret(added)
            let again = try await gateway.request("POST", "/account/ann/invitation")
            #expect(again.status == 201, "\(again)")
            let second = try secret(again)

            let anyone = gateway.with(token: nil)
            func post(_ target: String, _ invitation: String, _ headers: [String: String] = [:]) async throws -> HTTPAnswer {
                let password = target.hasSuffix("check") ? "" : #","password":"\#(RunningGateway.password)""#
                return try await anyone.request(
                    "POST", target, headers: headers, body: #"{"invitation":"\#(invitation)"\#(password)}"#)
            }
            let replaced = try await post("/session/invitation/check", first)
            #expect(replaced.status == 401 && replaced.object["field"] as? String == "invitation", "\(replaced)")
            let known = try await post("/session/invitation/check", second)
            #expect(known.status == 200 && known.object["display_name"] as? String == "Ann Lee", "\(known)")
            #expect(known.object["needs_code"] as? Bool == false)

            let foreign = try await post("/session/invitation", second, ["Origin": "https://portal.example.edu"])
            #expect(foreign.status == 403 && foreign["set-cookie"] == nil)
            let accepted = try await post("/session/invitation", second)
            #expect(accepted.status == 201 && accepted.object["display_name"] as? String == "Ann Lee", "\(accepted)")
            let cookie = try #require(accepted["set-cookie"]?.prefix { $0 != ";" })
            let ann = BrowserSession(
                gateway: gateway, account: "ann", password: RunningGateway.password, cookie: String(cookie))
            let named = try await ann.request("PUT", "/account/ann/display-name", body: #"{"display_name":"Ann"}"#)
            #expect(named.status == 200, "\(named)")
            #expect(try await ann.request("GET", "/session").object["display_name"] as? String == "Ann")

            let used = try await post("/session/invitation", second)
            #expect(used.status == 401 && used.object["field"] as? String == "invitation", "\(used)")
            // One for a forgotten password ends the sign-in before.
            let third = try secret(try await gateway.request("POST", "/account/ann/invitation"))
            #expect(try await post("/session/invitation", third).status == 201)
            #expect(try await ann.request("GET", "/session").status == 401)
            let list = try await gateway.request("GET", "/account").text
            #expect(list.contains("\"last_sign_in\":") && !list.contains("link_path"))
            expectCleanLog(of: gateway.process, secret: second, "the invitation")
        }
    }

    @Test("A change with a cookie needs the gateway's own origin; other configured portals use bearer tokens")
    func crossSite() async throws {
        let portal = "https://portal.example.edu"
        try await RunningGateway.with(
            services: ["msi-people", "msi-cube"], settings: ["MSI_GATEWAY_CORS_ORIGINS": portal]
        ) { gateway in
            let root = try await gateway.newSession("root", "super_user")
            let channel = #"{"name":"n","desc":"d"}"#
            for (fields, status) in [
                (["Origin": "http://127.0.0.1"], 201), (["Sec-Fetch-Site": "same-origin"], 201), ([:], 403),
                (["Sec-Fetch-Site": "none"], 403), (["Sec-Fetch-Site": "cross-site"], 403), (["Origin": portal], 403),
                (["Origin": "https://127.0.0.1"], 403), (["Origin": "null"], 403), (["Origin": "http://127.0.0.1:1"], 403),
            ] {
                let answer = try await gateway.request(
                    "POST", "/channel", headers: fields.merging(["Cookie": root.cookie]) { $1 }, body: channel)
                #expect(answer.status == status && (status == 201 || answer.problem == "origin-refused"), "\(fields): \(answer)")
            }
            let token = try await gateway.request("POST", "/channel", headers: ["Origin": portal], body: channel)
            #expect(token.status == 201 && token["access-control-allow-origin"] == portal)
            #expect(token["access-control-allow-credentials"] == nil)
            let preflight = try await gateway.request(
                "OPTIONS", "/channel",
                headers: [
                    "Origin": portal, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization",
                ])
            #expect(preflight["access-control-allow-headers"]?.lowercased().contains("authorization") == true)
            // A page of another portal cannot sign its visitor in to another account.
            let foreign = try await gateway.with(token: nil).request(
                "POST", "/session", headers: ["Origin": portal],
                body: #"{"account":"root","password":"\#(RunningGateway.password)"}"#)
            #expect(foreign.status == 403 && foreign["set-cookie"] == nil)
        }
    }

    @Test("Changes of accounts and tokens require a confirmed password, and a token cannot confirm one")
    func confirmation() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            let root = try await gateway.newSession("root", "super_user")
            let account = #"{"account":"ann","password":"\#(RunningGateway.password)","role":"communicator"}"#
            let refused = try await root.request("POST", "/account", body: account)
            #expect(refused.status == 403 && refused.problem == "confirmation-required")
            let wrong = try await root.request("PUT", "/session", body: #"{"password":"a wrong password"}"#)
            #expect(wrong.status == 401)
            #expect(try await root.request("POST", "/account", body: account).problem == "confirmation-required")
            try await gateway.withSecond { second in
                #expect(try await root.at(second).request("GET", "/account").status == 200)
                try await root.confirm()
                let session = try await root.request("GET", "/session").object
                let rest = try #require(session["confirmed_until"] as? Int64) - Int64.nowInMilliseconds
                #expect((200_000...300_000).contains(rest))
                #expect(try await root.request("POST", "/account", body: account).status == 201)
                // The confirmation counts at every gateway.
                try await eventually {
                    try await root.at(second).request("DELETE", "/account/ann").status == 204
                }
            }
            let token = try await root.makeToken(["read", "send", "administer"])
            let scripted = gateway.with(token: token)
            #expect(try await scripted.request("POST", "/account", body: account).problem == "confirmation-required")
            #expect(try await scripted.request("PUT", "/session", body: #"{"password":"x"}"#).problem == "forbidden")
            #expect(try await scripted.request("DELETE", "/session").problem == "forbidden")
            #expect(try await scripted.request("GET", "/account").status == 200)
        }
    }

    @Test("A required second factor must be set up before anything else, and is then asked for")
    func secondFactor() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube", "msi-message-log"]) { gateway in
            let ann = try await gateway.newSession("ann")
            #expect(try await ann.request("GET", "/message").status == 200)
            try await ann.confirm()
            let script = gateway.with(token: try await ann.makeToken(["read"]))
            let required = try await gateway.request("PUT", "/account/ann", body: #"{"second_factor_required":true}"#)
            #expect(required.status == 200)
            let refused = try await ann.request("GET", "/message")
            #expect(refused.status == 403 && refused.problem == "forbidden", "\(refused)")
            #expect(try await ann.request("GET", "/token").status == 403)
            let suspended = try await script.request("GET", "/message")
            #expect(suspended.problem == "forbidden" && suspended.text.contains("second factor"), "\(suspended)")
            // The operator's token is not suspended.
            #expect(try await gateway.request("PUT", "/account/admin", body: #"{"second_factor_required":true}"#).status == 200)
            #expect(try await gateway.request("GET", "/message").status == 200)
            let session = try await ann.request("GET", "/session").object
            #expect(session["rights"] as? [String] == [] && session["second_factor"] as? String == "required")

            let begun = try await ann.request("POST", "/account/ann/second-factor")
            let secret = try #require(begun.object["secret"] as? String, "\(begun)")
            let code = try #require(TOTP(secret: Secret(secret))).code(step: TOTP.step(at: .now))
            let confirmed = try await ann.request("PUT", "/account/ann/second-factor", body: #"{"code":"\#(code)"}"#)
            #expect(confirmed.status == 200 && (confirmed.object["recovery_codes"] as? [String])?.isEmpty == false)
            #expect(try await script.request("GET", "/message").status == 200)
            #expect(try await gateway.request("POST", "/account/ann/second-factor").problem == "forbidden")

            let missing = try await gateway.with(token: nil).request(
                "POST", "/session", body: #"{"account":"ann","password":"\#(RunningGateway.password)"}"#)
            #expect(missing.status == 401 && missing.object["field"] as? String == "code", "\(missing)")
            let recovery = try #require((confirmed.object["recovery_codes"] as? [String])?.first)
            let again = try await gateway.signIn("ann", code: recovery)
            #expect(try await again.request("GET", "/message").status == 200)
            // The phone is lost: a super user removes the second factor.
            #expect(try await gateway.request("DELETE", "/account/ann/second-factor").status == 200)
        }
    }
}
