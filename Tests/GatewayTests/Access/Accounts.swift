import FoundationEssentials
import Schemas
import TestSupport
import Testing

/// A signed-in account in a browser: it sends the cookie, and the gateway's own origin.
struct BrowserSession: Sendable {
    let gateway: RunningGateway
    let account: String
    let password: String
    /// `msi_session=…`.
    let cookie: String

    /// The header fields of its requests.
    var fields: [String] { ["Cookie: \(cookie)", "Origin: http://127.0.0.1"] }

    func request(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
    ) async throws -> HTTPAnswer {
        let own = ["Cookie": cookie, "Origin": "http://127.0.0.1"]
        return try await gateway.request(method, target, headers: own.merging(headers) { $1 }, body: body)
    }

    /// The same session at another gateway.
    func at(_ gateway: RunningGateway) -> BrowserSession {
        BrowserSession(gateway: gateway, account: account, password: password, cookie: cookie)
    }

    func confirm() async throws {
        let answer = try await request("PUT", "/session", body: #"{"password":"\#(password)"}"#)
        #expect(answer.status == 200, "\(answer)")
    }

    /// Makes a token of the account.
    ///
    /// - Parameter fields: Further fields of the request, such as `"expires":…`.
    func makeToken(_ rights: [String], _ fields: String...) async throws -> String {
        let list = rights.map { #""\#($0)""# }.joined(separator: ",")
        let all = ([#""name":"test""#, #""rights":[\#(list)]"#] + fields).joined(separator: ",")
        let answer = try await request("POST", "/token", body: "{\(all)}")
        #expect(answer.status == 201, "\(answer)")
        return try #require(answer.object["secret"] as? String)
    }
}

extension RunningGateway {
    static let password = "a long password of a test"

    /// Adds an account as the operator.
    func addAccount(_ name: String, _ role: String = "communicator") async throws {
        let body = #"{"account":"\#(name)","password":"\#(Self.password)","role":"\#(role)"}"#
        let answer = try await request("POST", "/account", body: body)
        #expect(answer.status == 201, "\(answer)")
    }

    /// Signs in as a browser does.
    func signIn(_ account: String, password: String = RunningGateway.password, code: String? = nil) async throws -> BrowserSession
    {
        let code = code.map { #","code":"\#($0)""# } ?? ""
        let answer = try await with(token: nil).requestUntilTaken(
            "POST", "/session", headers: ["Origin": "http://127.0.0.1"],
            body: #"{"account":"\#(account)","password":"\#(password)"\#(code)}"#)
        #expect(answer.status == 201, "\(answer)")
        let cookie = try #require(answer["set-cookie"]?.prefix { $0 != ";" })
        return BrowserSession(gateway: self, account: account, password: password, cookie: String(cookie))
    }

    /// Adds an account and signs in.
    func newSession(_ account: String, _ role: String = "communicator") async throws -> BrowserSession {
        try await addAccount(account, role)
        return try await signIn(account)
    }

    /// Runs a test with a second gateway on the same services.
    func withSecond(_ body: (RunningGateway) async throws -> Void) async throws {
        try await RunningGateway.with(services: [], in: folder, body)
    }
}
