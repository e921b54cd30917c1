import AsyncHTTPClient
import Base
import Crypto
import FoundationEssentials
import Logging
import NIOHTTP1
import Schemas
import ServiceKit

/// Checks access tokens at Facebook, which has no tokens that others can check.
struct FacebookLogin: Sendable {
    private let settings: ProviderSettings.Facebook
    private let graph: String
    private let client: ProviderClient
    private let outage: OutageLog
    /// Limits the requests to Facebook, which anyone can cause.
    private let turns = FairSemaphore(
        maxRunning: 16, maxWaiting: 16, maxWait: .seconds(5), refusal: "too many people are signing in with Facebook; try again")

    /// Describes a token. What is wrong with that token is in the answer's `data`, and an error beside it is about the request.
    private static let debugPath = "debug_token"

    /// - Parameter graph: The beginning of the Graph API's addresses.
    init(_ settings: ProviderSettings.Facebook, graph: String, times: ProviderTimes, logger: Logger) {
        self.settings = settings
        self.graph = graph
        client = ProviderClient("Facebook", timeout: times.request)
        outage = OutageLog("nobody can sign in with Facebook", logger: logger)
    }

    /// Closes the connections.
    func close() async throws {
        try await client.close()
    }

    /// Whose a token is, and when it ends.
    ///
    /// - Throws: ``IDTokenRefusal``; ``CommandFailure`` with `unavailable` if Facebook does not answer or limits the app, and with
    ///   `overloaded` if too many others are signing in.
    func person(_ token: Secret, from address: String, now: UnixMilliseconds) async throws -> FacebookToken {
        try await turns.take(for: IPAddress(address)) {
            let app = "\(settings.appID)|\(settings.appSecret.text)"
            let debugged = try await answer(to: Self.debugPath, [("input_token", token.text), ("access_token", app)])
            if let error = debugged["data"]?["error"], case let read = FacebookError(error), read.isTemporary {
                throw read.failure(client)
            }
            let read = try FacebookToken(debugged, appID: settings.appID, now: now)
            let proof = Self.proof(of: token, by: settings.appSecret)
            let person = try await answer(
                to: "me", [("fields", "id"), ("access_token", token.text), ("appsecret_proof", proof)])
            guard person["id"]?.string == read.person else { throw IDTokenRefusal.subject }
            return read
        }
    }

    /// `appsecret_proof`: shows that the app itself sends the token.
    static func proof(of token: Secret, by appSecret: Secret) -> String {
        HMAC<SHA256>.authenticationCode(
            for: Data(token.text.utf8), using: SymmetricKey(data: Data(appSecret.text.utf8))
        ).hexadecimal
    }

    private func answer(to path: String, _ query: [(name: String, value: String)]) async throws -> JSONValue {
        do {
            let request = HTTPClientRequest(url: "\(graph)/\(path)?\(FormEncoding.encode(query))")
            let (status, body) = try await client.anyAnswer(to: request)
            let json = try? JSONCoder.decode(JSONValue.self, from: body)
            if let error = json?["error"] { throw FacebookError(error).failure(client, isAboutApp: path == Self.debugPath) }
            guard status == .ok, let json else { throw client.failure("it answers \(status.code)") }
            outage.worked()
            return json
        } catch let failure as CommandFailure {
            outage.failed(failure)
            throw failure
        }
    }
}

/// A token of which Facebook says that it is valid, and is this app's.
struct FacebookToken: Hashable, Sendable {
    /// The person's identifier in this app.
    let person: String
    /// When it need not be remembered any more.
    let expires: UnixMilliseconds

    /// The maximum time for which a token is remembered. By then Facebook has asked the person again.
    private static let maxLifetime = Milliseconds.seconds(90 * 86_400)

    /// - Parameter debugged: The answer of `debug_token`.
    init(_ debugged: JSONValue, appID: String, now: UnixMilliseconds) throws(IDTokenRefusal) {
        guard let data = debugged["data"], data["is_valid"] == .boolean(true) else { throw .invalid }
        // Any app's token would do otherwise. Earlier versions of the API wrote a number.
        guard let app = data["app_id"]?.string ?? data["app_id"]?.number, ExactText(app) == ExactText(appID) else {
            throw .audience
        }
        guard data["type"]?.string == "USER" else { throw .kind }
        guard let seconds = data["expires_at"]?.integer, seconds == 0 || seconds > now.seconds else { throw .expired }
        guard let person = data["user_id"]?.string ?? data["user_id"]?.number, (1...64).contains(person.utf8.count) else {
            throw .subject
        }
        self.person = person
        let end = UnixMilliseconds(rawValue: 0) + .seconds(seconds)
        expires = seconds == 0 ? now + Self.maxLifetime : min(end, now + Self.maxLifetime)
    }
}

/// An error of the Graph API.
struct FacebookError: Hashable, Sendable {
    let code: Int64
    /// Whether the token is another app's, which Facebook does not describe.
    let isOfAnotherApp: Bool

    /// Temporary failures, and too many requests of this app.
    private static let temporary: Set<Int64> = [1, 2, 4, 17, 32, 341, 613]
    /// The token is invalid, or its session has ended.
    private static let invalidToken: Set<Int64> = [102, 190]
    private static let pause = Milliseconds.seconds(60)

    init(_ error: JSONValue) {
        code = error["code"]?.integer ?? 0
        // Code 100 alone may also be a mistake of the settings.
        isOfAnotherApp = code == 100 && error["message"]?.string?.contains("did not match the Viewing App") == true
    }

    var isTemporary: Bool { Self.temporary.contains(code) }

    /// What it means for the person who signs in.
    ///
    /// - Parameter isAboutApp: Whether an invalid token is the app's own, so that the settings are wrong.
    func failure(_ client: ProviderClient, isAboutApp: Bool = false) -> any Error {
        if isOfAnotherApp { return IDTokenRefusal.audience }
        if !isAboutApp, Self.invalidToken.contains(code) { return IDTokenRefusal.invalid }
        return client.failure("it answers with the error \(code)", retryAfter: isTemporary ? Self.pause : nil)
    }
}
