import Base
import NIOHTTP1
import TestSupport

/// A signed-in communicator in a browser.
struct Communicator: Sendable {
    private static let password = "a long password of a test"

    let portal: Portal
    /// The cookie's value with an equals sign before it. Its name has the port of the gateway.
    private let secret: String
    private let name: String

    /// Adds the account and signs in.
    ///
    /// - Parameter portal: The operator's.
    init(_ name: String, _ portal: Portal) async throws {
        let account: JSONValue = ["account": "\(name)", "password": "\(Self.password)", "role": "communicator"]
        let added = try await portal.call(.POST, "/account", account)
        guard added.status == 201 else { throw UnexpectedAnswer(added) }
        let signedIn = try await portal.with(token: nil).call(
            .POST, "/session", ["account": "\(name)", "password": "\(Self.password)"])
        guard signedIn.status == 201, let cookie = signedIn["Set-Cookie"] else { throw UnexpectedAnswer(signedIn) }
        self.name = name
        self.portal = portal
        secret = String(cookie.prefix { $0 != ";" }.drop { $0 != "=" })
    }

    private init(_ communicator: Communicator, _ portal: Portal) {
        self.portal = portal
        secret = communicator.secret
        name = communicator.name
    }

    /// The same sign-in at another gateway.
    func at(_ portal: Portal) -> Communicator { Communicator(self, portal) }

    func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> HTTPAnswer {
        let headers = ["Cookie": "msi_session_\(portal.port)\(secret)", "Origin": "http://127.0.0.1:\(portal.port)"]
        return try await portal.call(method, path, headers: headers, body)
    }

    func post(to subject: SubjectPath) async throws -> HTTPAnswer {
        try await call(.POST, "/message", subject.message())
    }

    func makeToken() async throws -> String {
        _ = try await call(.PUT, "/session", ["password": "\(Self.password)"])
        let made = try await call(.POST, "/token", ["name": "t", "rights": ["read", "send"]])
        guard made.status == 201, let secret = try made.json["secret"]?.string else { throw UnexpectedAnswer(made) }
        return secret
    }

    func tokenID() async throws -> String {
        let list = try await call(.GET, "/token")
        guard let id = try list.json["tokens"]?.array.first?["id"]?.string else { throw UnexpectedAnswer(list) }
        return id
    }
}
