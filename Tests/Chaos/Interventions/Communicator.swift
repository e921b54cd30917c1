import Base
import NIOHTTP1
import Synchronization
import TestSupport

/// A second person, who signs in with a password: only a person may approve what another one has posted.
final class Communicator: Sendable {
    static let account = "ben"
    private static let password = "a long password of the run"

    private let portal: Portal
    /// The cookie of the sign-in; `nil` if there is none.
    private let cookie = Mutex<String?>(nil)

    /// Makes the account.
    ///
    /// - Parameter portal: The operator's.
    init(_ portal: Portal) async throws {
        self.portal = portal
        let account: JSONValue = ["account": "\(Self.account)", "password": "\(Self.password)", "role": "communicator"]
        let answer = try await portal.call(.POST, "/account", account)
        guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
    }

    /// Makes a request; it signs in before, if it has to.
    ///
    /// - Returns: `nil` if there was no answer, or if the sign-in has ended.
    func call(_ method: HTTPMethod, _ path: String) async -> HTTPAnswer? {
        guard let cookie = await signedIn(),
            let answer = try? await portal.call(method, path, headers: headers(cookie))
        else { return nil }
        guard answer.status == 401 else { return answer }
        self.cookie.withLock { $0 = nil }
        return nil
    }

    private func signedIn() async -> String? {
        if let known = cookie.withLock(\.self) { return known }
        let body: JSONValue = ["account": "\(Self.account)", "password": "\(Self.password)"]
        let answer = try? await portal.with(token: nil).call(.POST, "/session", headers: headers(nil), body)
        guard let answer, answer.status == 201, let set = answer["Set-Cookie"] else { return nil }
        let new = String(set.prefix { $0 != ";" })
        cookie.withLock { $0 = new }
        return new
    }

    private func headers(_ cookie: String?) -> [String: String] {
        var headers = ["Origin": "http://127.0.0.1:\(portal.port)"]
        headers["Cookie"] = cookie
        return headers
    }
}
