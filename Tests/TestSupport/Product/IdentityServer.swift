package import AsyncHTTPClient
package import Base
import FoundationEssentials
import NIOCore
package import NIOHTTP1
package import Schemas

/// A client of the identity emulator: a browser at its pages, a server of the hub, and a test that changes it.
package struct IdentityServer: Sendable {
    /// Such as `http://127.0.0.1:8444`.
    package let url: String
    package let http: HTTPClient

    /// - Parameter http: A client that does not follow redirects.
    package init(url: String, http: HTTPClient) {
        self.url = url
        self.http = http
    }

    package func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> HTTPAnswer {
        try await http.answer(method, url + path, body: body?.data, within: .seconds(60))
    }

    /// A token of a provider.
    ///
    /// - Parameter changes: Further fields of the order, such as `["claims": ["exp": 1]]`: see `Services/IdentityEmulator/API.md`.
    package func token(
        _ provider: IdentityProvider, of sub: String, _ changes: [JSONValue.Member] = []
    ) async throws -> Secret {
        let order: [JSONValue.Member] = [.init("provider", .string(provider.rawValue)), .init("sub", .string(sub))]
        let answer = try await call(.POST, "/control/token", .object(order + changes))
        guard answer.status == 200, let token = try answer.json["token"]?.string else { throw UnexpectedAnswer(answer) }
        return Secret(token)
    }

    /// Stores a person's claims.
    package func put(_ sub: String, _ claims: JSONValue) async throws {
        let answer = try await call(.PUT, "/control/people/\(sub)", claims)
        guard answer.status == 204 else { throw UnexpectedAnswer(answer) }
    }

    /// Publishes a new key.
    package func rotateKeys(of provider: IdentityProvider) async throws {
        let answer = try await call(.POST, "/control/keys/\(provider.rawValue)/rotate")
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
    }

    /// How a provider's servers answer from now on.
    package func setFault(_ fault: JSONValue, of provider: IdentityProvider) async throws {
        let answer = try await call(.PUT, "/control/faults/\(provider.rawValue)", fault)
        guard answer.status == 204 else { throw UnexpectedAnswer(answer) }
    }

    /// The number of requests to a path of the providers' servers.
    package func requests(to path: String) async throws -> Int {
        Int(try await call(.GET, "/control/requests").json[path]?.integer ?? 0)
    }

    /// Sends the form of a page, as a browser does.
    ///
    /// - Parameter form: In the form of a query, such as `sub=1`.
    /// - Returns: The address at which the browser continues.
    package func submit(_ form: String, at page: String) async throws -> String {
        let answer = try await http.answer(
            .POST, page, headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Data(form.utf8),
            within: .seconds(60))
        guard answer.status == 303, let address = answer["Location"] else { throw UnexpectedAnswer(answer) }
        return address
    }
}
