import FoundationEssentials
import Base
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// Signing in at the university's provider, with a browser behind a trusted proxy that does TLS.
    @Suite("OpenID Connect", .hubWithProvider)
    struct OpenIDConnectTests {
        private let hub: Hub

        init() throws {
            hub = try HubWithProvider.current
        }

        @Test("A browser signs in at the university's provider, and comes back with a session and cookies for https alone")
        func signIn() async throws {
            try await hub.provider.add("17", ["preferred_username": "ann", "roles": ["staff"]])
            let begun = try await hub.get("/session/oidc")
            #expect(begun.status == 303)
            let flow = try hub.cookie("__Host-msi_oidc", of: begun)
            let address = try await hub.provider.signIn("17", at: try #require(begun["Location"]))
            #expect(address.hasPrefix(Hub.callback + "?"))
            // Providers may add parameters of their own.
            let path = address.dropFirst(Hub.origin.count) + "&session_state=1"

            #expect(try await hub.get(String(path)).status == 401)
            // The page of a neighbouring host can plant a cookie only under a name without the prefix.
            #expect(try await hub.get(String(path), cookie: String(flow.dropFirst("__Host-".count))).status == 401)
            #expect(try await hub.get("/session/oidc/callback?error=access_denied", cookie: flow).status == 401)
            let finished = try await hub.get(String(path), cookie: flow)
            #expect(finished.status == 303 && finished["Location"] == "/", "\(finished)")
            for answer in [begun, finished] {
                for field in answer.headers["Set-Cookie"] {
                    #expect(["Secure", "HttpOnly", "SameSite=Lax"].allSatisfy(field.contains), "\(field)")
                    // Browsers ignore a cookie with the prefix that lacks this.
                    let isForHost = field.split(separator: "; ").contains("Path=/") && !field.contains("Domain")
                    #expect(field.hasPrefix("__Host-") && isForHost, "\(field)")
                }
            }
            let session = try hub.cookie("__Host-msi_session", of: finished)
            let answer = try await hub.get("/session", cookie: session)
            #expect(answer.status == 200, "\(answer)")
            #expect(try answer.json["account"] == "ann" && answer.json["role"] == "communicator")
            #expect(try await hub.get(String(path), cookie: flow).status == 401)
        }

        @Test("A sign-in is confirmed by the same person, and its successor takes its place")
        func confirmation() async throws {
            for (subject, name) in [("17", "ann"), ("18", "bob")] {
                try await hub.provider.add(subject, ["preferred_username": .string(name), "roles": ["staff"]])
            }
            #expect(try await hub.get("/session/oidc?confirm=true").status == 401)
            let first = try hub.cookie("__Host-msi_session", of: try await hub.signIn("17"))
            let other = try await hub.signIn("18", path: "/session/oidc?confirm=true", cookie: first)
            #expect(other.status == 401, "\(other)")
            #expect(try await hub.get("/session", cookie: first).status == 200)
            let confirmed = try await hub.signIn("17", path: "/session/oidc?confirm=true", cookie: first)
            let second = try hub.cookie("__Host-msi_session", of: confirmed)
            #expect(try await hub.get("/session", cookie: second).json["confirmed_until"] != nil)
            try await eventually("the end of the previous sign-in") {
                try await hub.get("/session", cookie: first).status == 401
            }
        }

        @Test(
            "A name at the provider does not open the lists of the cube, unless a super user has linked the person to the account"
        )
        func listedName() async throws {
            let portal = hub.portal
            let channel = try await portal.call(.POST, "/channel", ["name": "Alerts", "desc": ""]).json
            let id = try #require(channel["_id"]?.string)
            #expect(try await portal.call(.PUT, "/access/\(id)", ["access": ["rector"]]).status == 200)
            try await hub.provider.add("66", ["preferred_username": "Rector", "roles": ["staff"]])
            let refused = try await hub.signIn("66")
            #expect(refused.status == 409 && refused.text.contains("An access list of the cube names Rector"), "\(refused)")
            #expect(try await portal.call(.GET, "/account/rector").status == 404)

            let added = try await portal.call(
                .POST, "/account", ["account": "rector", "oidc": "66", "role": "communicator"])
            #expect(added.status == 201, "\(added)")
            #expect(try await hub.signIn("66").status == 303)
            let unlinked = try await portal.call(.PUT, "/account/rector", ["oidc": "67"])
            #expect(try unlinked.json["oidc"] == "67")
            #expect(try await hub.signIn("66").status == 409)
        }
    }
}

/// The hub, as a browser reaches it.
private struct Hub: Sendable {
    static let origin = "https://hub.example.edu"
    static let callback = origin + "/session/oidc/callback"

    let portal: Portal
    let provider: OpenIDTestProvider

    func get(_ path: String, cookie: String? = nil) async throws -> HTTPAnswer {
        var headers = ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"]
        if let cookie { headers["Cookie"] = cookie }
        return try await provider.browser.answer(
            .GET, "http://127.0.0.1:\(portal.port)\(path)", headers: headers, within: .seconds(60))
    }

    /// A cookie that an answer sets.
    func cookie(_ name: String, of answer: HTTPAnswer) throws -> String {
        guard let set = answer.headers["Set-Cookie"].first(where: { $0.hasPrefix(name + "=") }) else {
            throw UnexpectedAnswer(answer)
        }
        return String(set.prefix { $0 != ";" })
    }

    /// The whole way of a person.
    ///
    /// - Returns: The answer to the browser that comes back.
    func signIn(_ subject: String, path: String = "/session/oidc", cookie session: String? = nil) async throws -> HTTPAnswer {
        let begun = try await get(path, cookie: session)
        guard let page = begun["Location"] else { throw UnexpectedAnswer(begun) }
        let address = try await provider.signIn(subject, at: page)
        return try await get(String(address.dropFirst(Self.origin.count)), cookie: cookie("__Host-msi_oidc", of: begun))
    }
}

/// The people service, the cube service, the gateway and a provider for all the tests of a suite.
private struct HubWithProvider: SuiteTrait, TestScoping {
    @TaskLocal private static var running: Hub?

    static var current: Hub {
        get throws { try #require(running) }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await OpenIDTestProvider.with { provider in
            let registration = try await provider.register(redirect: Hub.callback)
            let people = [
                "MSI_OIDC_ISSUER": provider.issuer, "MSI_OIDC_CLIENT_ID": registration.clientID,
                "MSI_OIDC_CLIENT_SECRET": registration.clientSecret, "MSI_OIDC_COMMUNICATORS": "staff",
                "MSI_OIDC_NAME_CLAIM": "preferred_username",
            ]
            let gateway = ["MSI_GATEWAY_PUBLIC_URL": Hub.origin, "MSI_GATEWAY_TRUSTED_PROXIES": "127.0.0.1"]
            try await SeparateServices.with(peopleSettings: people, gatewaySettings: gateway) { services in
                try await Self.$running.withValue(Hub(portal: services.portal, provider: provider)) { try await function() }
            }
        }
    }
}

extension Trait where Self == HubWithProvider {
    fileprivate static var hubWithProvider: HubWithProvider { HubWithProvider() }
}
