import AsyncHTTPClient
import FoundationEssentials
import JSON
import NIOCore
import NIOHTTP1
import Schemas
import ServiceKit

/// A client of the gateway's HTTP API, with the token of the settings.
struct GatewayClient: Sendable {
    private let http: HTTPClient
    private let url: String
    /// The setting that the URL comes from.
    private let source: String
    private let token: Secret?
    /// What to say if the gateway requires a token, and there is none.
    private let noToken: String
    /// Tells the user that a request takes longer.
    private let report: @Sendable (String) -> Void

    /// The gateway's limit of a body.
    static let maxBodyBytes = 64 * 1_024

    private static let maxAnswerBytes = 64 << 20
    private static let answerTimeout = TimeAmount.seconds(10)
    /// How long a request is repeated without an answer.
    private static let retryTimeout = Duration.seconds(30)
    private static let pause = Duration.milliseconds(500)

    /// Runs a body with a client of the gateway that the settings name.
    ///
    /// - Parameter report: Tells the user that a request takes longer.
    /// - Throws: ``ConfigurationError``, or the body's error.
    static func with(
        _ settings: SettingValues, report: @escaping @Sendable (String) -> Void,
        _ body: (GatewayClient) async throws -> Void
    ) async throws {
        let given = try settings.optional(.gatewayURL)
        let (url, source) = try given.map { ($0, Setting.gatewayURL.declaration.name) } ?? Self.ownGateway(settings)
        let token =
            try settings.optional(.token).map { Secret($0) }
            ?? Self.localToken(settings, for: url, isOwn: given == nil)
        let noToken =
            "there is no token in \(OperatorToken(stateDirectory: try settings.value(.stateDirectory)).path): set MSI_STATE_DIR or "
            + "MSI_TOKEN_FILE"
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(5)
        configuration.redirectConfiguration = .disallow
        // A failed connection is an error at once; this client repeats the request itself.
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(GatewayClient(http: http, url: url, source: source, token: token, noToken: noToken, report: report))
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    /// The gateway of this machine, with the setting that says where it is. By TLS, it is reached under the name in its certificate.
    static func ownGateway(_ settings: SettingValues) throws -> (url: String, source: String) {
        let access = try GatewayAccess(settings)
        let isPlain = access.certificate == nil && (access.host.isLoopback || access.host.isWildcard)
        if !isPlain, let url = access.publicURL { return (url, Setting.gatewayPublicURL.declaration.name) }
        return (access.localURL(port: try settings.value(.gatewayPort)), Setting.gatewayPort.declaration.name)
    }

    /// The operator's token, which only the gateway of this machine may get.
    ///
    /// - Parameter isOwn: Whether the settings of this machine's gateway name the URL.
    /// - Throws: ``ConfigurationError`` for another gateway.
    private static func localToken(_ settings: SettingValues, for url: String, isOwn: Bool) throws -> Secret? {
        guard isOwn || isLoopbackURL(url) else {
            throw ConfigurationError(
                "\(Setting.token.declaration.name) is required for \(url): the token in MSI_STATE_DIR is only for the gateway of this "
                    + "machine")
        }
        return try OperatorToken(stateDirectory: settings.value(.stateDirectory)).read()
    }

    /// Reads a document.
    ///
    /// - Throws: ``GatewayFailure``.
    func get<Value: Decodable>(_ path: String) async throws -> Value {
        try await answer(Value.self, to: request(.GET, path))
    }

    /// Posts a body. It is repeated if there is no answer, so it needs an idempotency key unless a second object does no harm.
    ///
    /// - Throws: ``GatewayFailure``.
    func post<Value: Decodable>(
        _ path: String, _ body: Data, type: String = "application/json", key: String? = nil
    ) async throws -> Value {
        var request = request(.POST, path)
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        request.headers.add(name: "Content-Type", value: type)
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await answer(Value.self, to: request)
    }

    private struct ProblemDocument: Decodable {
        let detail: String
    }

    private func request(_ method: HTTPMethod, _ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token.text)") }
        return request
    }

    /// Makes a request, and repeats it until there is a final answer.
    ///
    /// - Throws: ``GatewayFailure``.
    private func answer<Value: Decodable>(_ type: Value.Type, to request: HTTPClientRequest) async throws -> Value {
        let deadline = ContinuousClock.now + Self.retryTimeout
        var isFirst = true
        while true {
            switch await attempt(request) {
            case .answered(let json):
                do {
                    return try JSONCoder.decode(from: json)
                } catch {
                    throw GatewayFailure(.refused, "\(url) does not answer as a gateway of this version: \(error)")
                }
            case .failed(let failure): throw failure
            case .unanswered(let failure, let pause):
                guard ContinuousClock.now + pause < deadline else { throw failure }
                if isFirst { report("\(failure); trying again for \(Self.retryTimeout.components.seconds) s") }
                isFirst = false
                try await Task.sleep(for: pause)
            }
        }
    }

    private enum Attempt {
        case answered(Data)
        case failed(GatewayFailure)
        /// It can be repeated after a pause.
        case unanswered(GatewayFailure, pause: Duration)
    }

    private func attempt(_ request: HTTPClientRequest) async -> Attempt {
        do {
            let response = try await http.execute(request, timeout: Self.answerTimeout)
            let body = Data(try await response.body.collect(upTo: Self.maxAnswerBytes).readableBytesView)
            let problem = (try? JSONCoder.decode(ProblemDocument.self, from: body))?.detail ?? "the status is \(response.status)"
            switch response.status.code {
            case 200..<300: return .answered(body)
            case 401, 403: return .failed(GatewayFailure(.notAllowed, token == nil ? noToken : problem))
            case 507: return .failed(GatewayFailure(.unreachable, problem))
            case 408, 429, 500...:
                let pause = response.headers.first(name: "Retry-After").flatMap { Int64($0) }.map { Duration.seconds($0) }
                return .unanswered(GatewayFailure(.unreachable, problem), pause: pause ?? Self.pause)
            default: return .failed(GatewayFailure(.refused, problem))
            }
        } catch {
            let reason = (error as? HTTPClientError)?.shortDescription ?? "the connection failed"
            return .unanswered(
                GatewayFailure(.unreachable, "the gateway at \(url) (\(source)) does not answer: \(reason). Is it running?"),
                pause: Self.pause)
        }
    }
}
