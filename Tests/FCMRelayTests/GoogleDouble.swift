import CryptoExtras
import FoundationEssentials
import HTTPTransport
import HTTPTypes
import JWTKit
import Logging
import Schemas
import Synchronization
import TestSupport

@testable import FCMRelay

/// A double of Google on a real HTTPS server: a token endpoint that checks signatures, and FCM's send method.
final class GoogleDouble: Sendable {
    typealias FCM = @Sendable (TLSServer.Request) async throws -> TLSServer.Answer

    private struct State {
        var grants = 0
        var goodTokens: Set<String> = []
        var refusal: TLSServer.Answer?
    }

    private let state = Mutex(State())
    private let fcm: FCM

    /// - Parameter fcm: Answers a send with a valid token.
    init(fcm: @escaping FCM) {
        self.fcm = fcm
    }

    /// The number of issued access tokens.
    var grants: Int { state.withLock(\.grants) }

    /// Invalidates all issued tokens.
    func revokeTokens() {
        state.withLock { $0.goodTokens = [] }
    }

    /// Refuses to issue tokens, or issues them again.
    func refuseTokens(with answer: TLSServer.Answer?) {
        state.withLock { $0.refusal = answer }
    }

    func answer(_ request: TLSServer.Request) async throws -> TLSServer.Answer {
        request.path == "/token" ? try await grant(request) : try await send(request)
    }

    private func grant(_ request: TLSServer.Request) async throws -> TLSServer.Answer {
        if let refusal = state.withLock(\.refusal) { return refusal }
        let form = String(decoding: request.body, as: UTF8.self)
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        guard form.hasPrefix(prefix), request.headers[.contentType] == "application/x-www-form-urlencoded" else {
            return .init(400, #"{"error":"unsupported_grant_type"}"#)
        }
        guard let assertion = try? await Self.verified(String(form.dropFirst(prefix.count))) else {
            return .init(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
        }
        guard assertion.iss == "relay@campus-test.iam.gserviceaccount.com", assertion.aud.hasSuffix("/token"),
            assertion.scope == "https://www.googleapis.com/auth/firebase.messaging",
            assertion.exp <= assertion.iat + 3_600, abs(assertion.iat - UnixMilliseconds.now.seconds) < 60
        else { return .init(400, #"{"error":"invalid_grant","error_description":"Invalid claims."}"#) }
        // Long enough for many concurrent requests.
        try await Task.sleep(for: .milliseconds(50))
        let token = state.withLock { state in
            state.grants += 1
            let token = "ya29.token-\(state.grants)"
            state.goodTokens.insert(token)
            return token
        }
        return .init(200, #"{"access_token":"\#(token)","expires_in":3599,"token_type":"Bearer"}"#)
    }

    private static func verified(_ assertion: String) async throws -> TokenAssertion {
        let publicKey = try Insecure.RSA.PublicKey(pem: await ServiceAccountFile.key.publicKey.pemRepresentation)
        let keys = JWTKeyCollection()
        await keys.add(rsa: publicKey, digestAlgorithm: .sha256, kid: "0123abcd")
        return try await keys.verify(assertion)
    }

    private func send(_ request: TLSServer.Request) async throws -> TLSServer.Answer {
        let token = (request.headers[.authorization] ?? "").replacing("Bearer ", with: "")
        guard request.path == "/v1/projects/campus-test/messages:send" else { return .init(404, "<html>nothing here</html>") }
        guard state.withLock({ $0.goodTokens.contains(token) }) else {
            return .init(
                401,
                #"{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}"#)
        }
        return try await fcm(request)
    }
}

/// Runs a test with a sender that uses the given double.
func withSender(
    to google: GoogleDouble, _ body: @escaping @Sendable (HTTPv1Sender, TLSServer) async throws -> Void
) async throws {
    try await withTLSServer(answer: google.answer) { server in
        let transport = try CurlTransport(.fcm(trusting: server.certificateFile))
        let account = try await ServiceAccount(json: ServiceAccountFile.json(tokenURI: server.url + "/token"))
        let tokens = AccessTokenSource(
            granter: TokenEndpoint(account: account, transport: transport, now: { .now }), project: "p",
            logger: .quiet)
        let sender = HTTPv1Sender(
            endpoint: server.url, project: account.projectID, google: GoogleClient(transport: transport, tokens: tokens),
            now: { .now })
        do {
            try await body(sender, server)
            await transport.close()
        } catch {
            await transport.close()
            throw error
        }
    }
}

extension Logger {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension RelayMessage {
    /// An Alert or Information with texts that are hard to encode.
    static func sample(
        _ distribution: Distribution = .alert, message: String = "Line 1\nLine 2 \\ \"3\" مرحبا",
        expires: UnixMilliseconds? = nil,
        components: [Component]? = nil
    ) -> RelayMessage {
        RelayMessage(
            msiKey: ObjectID(), timestamp: 1_763_712_000_123,
            content: MessageContent(
                title: "Library \"closed\" 🎓", desc: "إغلاق المكتبة", message: message,
                topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), distribution: distribution),
            expires: expires, components: components)
    }
}
