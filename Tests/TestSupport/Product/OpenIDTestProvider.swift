package import AsyncHTTPClient
import FoundationEssentials
package import Base
import Glibc
import NIOCore
import NIOHTTP1

/// An OpenID Connect provider from PyPI, as a process: `Tests/Python/oidc_provider.py`.
package struct OpenIDTestProvider: Sendable {
    package let issuer: String
    /// A client that does not follow redirects, as a browser whose cookies and addresses the test sees.
    package let browser: HTTPClient
    private let child: ChildProcess

    /// What the provider knows of an installation.
    package struct Registration: Sendable {
        package let clientID: String
        package let clientSecret: String
    }

    /// Runs a test with a new provider.
    ///
    /// - Parameter port: 0 for any.
    package static func with<Value>(
        port: Int = 0, isolation: isolated (any Actor)? = #isolation, _ body: (OpenIDTestProvider) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryFolder { folder in
            let child = try await PythonScript.start("oidc_provider.py", [String(port)], logFile: folder + "/provider.log")
            let issuer = String(try await child.waitForLog { $0.firstMatch(of: /listening on (http:\S+)/)?.1 })
            let browser = HTTPClient(
                eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
            return try await perform {
                try await body(OpenIDTestProvider(issuer: issuer, browser: browser, child: child))
            } finally: {
                try await browser.shutdown()
                await child.kill()
            }
        }
    }

    /// Stores a person's claims.
    package func add(_ subject: String, _ claims: JSONValue) async throws {
        let answer = try await browser.answer(
            .PUT, issuer + "/users/" + subject, headers: ["Content-Type": "application/json"], body: claims.data,
            within: .seconds(60))
        guard answer.status == 204 else { throw UnexpectedAnswer(answer) }
    }

    /// Registers an installation that is sent back to an address.
    package func register(redirect: String) async throws -> Registration {
        let body: JSONValue = ["redirect_uris": [.string(redirect)], "token_endpoint_auth_method": "client_secret_basic"]
        let answer = try await browser.answer(
            .POST, issuer + "/oauth2/clients", headers: ["Content-Type": "application/json"], body: body.data,
            within: .seconds(60))
        guard let id = try answer.json["client_id"]?.string, let secret = try answer.json["client_secret"]?.string else {
            throw UnexpectedAnswer(answer)
        }
        return Registration(clientID: id, clientSecret: secret)
    }

    /// A person signs in on the provider's page.
    ///
    /// - Returns: The address to which the provider sends the browser back.
    package func signIn(_ subject: String, at page: String) async throws -> String {
        let answer = try await browser.answer(
            .POST, page, headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Data("sub=\(subject)".utf8),
            within: .seconds(60))
        guard answer.status == 302, let address = answer["Location"] else { throw UnexpectedAnswer(answer) }
        return address
    }

    /// Replaces the key of the ID tokens.
    package func makeNewKey() async throws {
        let answer = try await browser.answer(.POST, issuer + "/test/new-key", within: .seconds(60))
        guard answer.status == 204 else { throw UnexpectedAnswer(answer) }
    }

    /// The ID tokens that it has issued.
    package var idTokens: [String] {
        get async throws {
            let answer = try await browser.answer(.GET, issuer + "/test/id-tokens", within: .seconds(60))
            return try answer.json.elements?.compactMap(\.string) ?? []
        }
    }

    /// The number of requests to a path.
    package func requests(to path: String) async throws -> Int {
        let answer = try await browser.answer(.GET, issuer + "/test/requests", within: .seconds(60))
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        guard case .number(let digits) = try answer.json[path] else { return 0 }
        return Int(digits) ?? 0
    }

    /// Freezes the provider, so that it does not answer.
    package func freeze() { child.signal(SIGSTOP) }

    package func thaw() { child.signal(SIGCONT) }
}
