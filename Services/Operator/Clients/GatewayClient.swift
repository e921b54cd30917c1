import AsyncHTTPClient
import FoundationEssentials
import HTTPRouting
import Base
import NIOCore
import NIOHTTP1
import Schemas
import ServiceKit

/// A client of the gateway's HTTP API, with the token of the settings.
struct GatewayClient: Sendable {
    private let http: HTTPClient
    /// Without a slash at its end.
    let url: String
    /// The name of the setting that contains the URL, for error messages.
    private let source: String
    private let token: Secret?
    /// What to say if the gateway requires a token, and there is none.
    private let noToken: String
    /// How long a request is repeated without an answer.
    private let retryTimeout: Duration
    /// Tells the user that a request takes longer.
    private let report: @Sendable (String) -> Void

    /// The gateway's limit of a body.
    static let maxBodyBytes = 64 * 1_024

    private static let maxAnswerBytes = 64 << 20
    private static let answerTimeout = Duration.seconds(10)
    private static let connectTimeout = Duration.seconds(5)
    private static let pause = Duration.milliseconds(500)
    /// How long requests that exceed the gateway's rate limit are repeated. Its limits apply to a minute.
    private static let maxLimitTime = Duration.seconds(120)

    /// Runs a body with a client of the gateway that the settings name.
    ///
    /// - Parameters:
    ///   - retryTimeout: How long a request is repeated without an answer.
    ///   - report: Tells the user that a request takes longer.
    /// - Throws: ``ConfigurationError``, or the body's error.
    static func with(
        _ settings: SettingValues, retryTimeout: Duration = .seconds(30), report: @escaping @Sendable (String) -> Void,
        _ body: (GatewayClient) async throws -> Void
    ) async throws {
        let given = try settings.optional(.gatewayURL)
        let (url, source) = try given.map { ($0, Setting.gatewayURL.declaration.name) } ?? Self.ownGateway(settings)
        let (token, noToken) =
            try settings.optional(.token).map { (Secret($0), "") } ?? Self.localToken(settings, for: url, isOwn: given == nil)
        try await with(url, from: source, token: token, orElse: noToken, retryTimeout: retryTimeout, report: report, body)
    }

    /// Runs a body with a client of a gateway.
    ///
    /// - Parameters:
    ///   - source: The setting that the URL comes from.
    ///   - noToken: What to say if the gateway requires a token, and there is none.
    ///   - retryTimeout: How long a request is repeated without an answer.
    ///   - report: Tells the user that a request takes longer.
    /// - Throws: The body's error.
    static func with(
        _ url: String, from source: String, token: Secret?, orElse noToken: String, retryTimeout: Duration = .seconds(30),
        report: @escaping @Sendable (String) -> Void, _ body: (GatewayClient) async throws -> Void
    ) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = TimeAmount(Self.connectTimeout)
        // Open streams get an event every 4 seconds; one without is broken.
        configuration.timeout.read = .seconds(25)
        configuration.redirectConfiguration = .disallow
        // A failed connection is an error at once; this client repeats the request itself.
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(
                GatewayClient(
                    http: http, url: url, source: source, token: token, noToken: noToken, retryTimeout: retryTimeout,
                    report: report))
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
    /// - Returns: The token, or what to say if the gateway requires one. Some requests need none.
    /// - Throws: ``ConfigurationError`` for another gateway.
    private static func localToken(
        _ settings: SettingValues, for url: String, isOwn: Bool
    ) throws -> (token: Secret?, problem: String) {
        guard isOwn || isLoopbackURL(url) else {
            throw ConfigurationError(
                "\(Setting.token.declaration.name) is required for \(url): the token in MSI_STATE_DIR is only for the gateway of this "
                    + "machine")
        }
        let file = OperatorToken(stateDirectory: try settings.value(.stateDirectory))
        let advice = "set MSI_STATE_DIR or MSI_TOKEN_FILE, or make a new one with msi account token"
        do {
            switch try file.content() {
            case .missing: return (nil, "there is no token in \(file.path): \(advice)")
            case .malformed(let problem): return (nil, "\(problem): \(advice)")
            case .token(let token): return (token, "")
            }
        } catch {
            return (nil, "\(error): set MSI_STATE_DIR or MSI_TOKEN_FILE, or run the command as the owner of the file")
        }
    }

    /// Reads a document.
    ///
    /// - Throws: ``GatewayFailure``.
    func get<Value: Decodable>(_ path: String) async throws -> Value {
        try await decode(answer(to: request(.GET, path)).body)
    }

    /// Reads a document as it is now: a failed request is not repeated.
    ///
    /// - Parameters:
    ///   - statuses: Further statuses of answers with the document.
    ///   - timeout: How long the gateway may take; `nil` for the time of all requests.
    /// - Throws: ``GatewayFailure``.
    func getOnce<Value: Decodable>(
        _ path: String, alsoAt statuses: Set<UInt> = [], within timeout: Duration? = nil
    ) async throws -> Value {
        switch await attempt(request(.GET, path), alsoAt: statuses, within: timeout ?? Self.answerTimeout) {
        case .answered(let answer): return try decode(answer.body)
        case .failed(let failure), .unanswered(let failure, _, _): throw failure
        }
    }

    /// Whether requests are made with a token.
    var hasToken: Bool { token != nil }

    /// This client without the token, for what everyone may read.
    var withoutToken: GatewayClient {
        GatewayClient(
            http: http, url: url, source: source, token: nil, noToken: noToken, retryTimeout: retryTimeout, report: report)
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
        return try await decode(answer(to: request).body)
    }

    /// Reads a document with its version, which ``edit(_:_:_:ifMatch:)`` takes.
    ///
    /// - Throws: ``GatewayFailure``.
    func getWithVersion<Value: Decodable>(_ path: String) async throws -> (value: Value, version: String?) {
        let answer = try await answer(to: request(.GET, path))
        return (try decode(answer.body), answer.version)
    }

    /// Reads the stream of events, until the task is cancelled. A broken stream is opened again where it broke.
    ///
    /// - Throws: ``GatewayFailure`` if the gateway refuses the stream.
    func follow(_ handle: @Sendable (ServerSentEvent) -> Void) async throws {
        var position: String?
        var isReported = false
        while !Task.isCancelled {
            do {
                try await readEvents(after: &position) { event in
                    isReported = false
                    handle(event)
                }
            } catch let failure as GatewayFailure {
                guard failure.kind == .unreachable, !Task.isCancelled else { throw failure }
                if !isReported { report("\(failure.description.asSentence) Trying again.") }
                isReported = true
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func readEvents(after position: inout String?, _ handle: (ServerSentEvent) -> Void) async throws {
        var request = request(.GET, "/events")
        if let position { request.headers.add(name: "Last-Event-ID", value: position) }
        do {
            let response = try await http.execute(request, deadline: .distantFuture)
            guard response.status == .ok else {
                let body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
                throw failure(of: response, body)
            }
            var parser = EventStreamParser()
            for try await bytes in response.body {
                for event in parser.receive(bytes.readableBytesView) { handle(event) }
                position = parser.lastID ?? position
            }
        } catch let failure as GatewayFailure {
            throw failure
        } catch {
            throw unreachable(error)
        }
    }

    /// Makes an edit, once: if there is no answer, it may have happened or not. One that was refused for too many requests is repeated.
    ///
    /// - Parameters:
    ///   - body: The document; `nil` for none.
    ///   - version: The version that the author of the edit saw.
    /// - Returns: The answer's document, and the version after the edit.
    /// - Throws: ``GatewayFailure``.
    func edit(
        _ method: HTTPMethod, _ path: String, _ body: Data?, ifMatch version: String?
    ) async throws -> (document: Data, version: String?) {
        var request = request(method, path)
        if let version { request.headers.add(name: "If-Match", value: version) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let deadline = ContinuousClock.now + Self.maxLimitTime
        while true {
            switch await attempt(request) {
            case .answered(let answer): return (answer.body, answer.version)
            case .unanswered(_, let pause, mayBeDone: false) where ContinuousClock.now + pause < deadline:
                try await Task.sleep(for: pause)
            case .failed(let failure), .unanswered(let failure, _, _): throw failure
            }
        }
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
    private func answer(to request: HTTPClientRequest) async throws -> Answer {
        let deadline = ContinuousClock.now + retryTimeout
        var isFirst = true
        // Whether any attempt may have succeeded.
        var mayBeDone = false
        while true {
            switch await attempt(request) {
            case .answered(let answer): return answer
            case .failed(var failure):
                failure.mayBeDone = mayBeDone
                throw failure
            case .unanswered(var failure, let pause, let isOpen):
                mayBeDone = mayBeDone || isOpen
                failure.mayBeDone = mayBeDone
                guard ContinuousClock.now + pause < deadline else { throw failure }
                if isFirst {
                    report("\(failure.description.asSentence) Trying again for \(retryTimeout.components.seconds) s.")
                }
                isFirst = false
                try await Task.sleep(for: pause)
            }
        }
    }

    /// - Throws: ``GatewayFailure``.
    func decode<Value: Decodable>(_ json: Data) throws -> Value {
        do {
            return try JSONCoder.decode(from: json)
        } catch {
            throw GatewayFailure(.refused, "\(url) does not answer as a gateway of this version: \(error)")
        }
    }

    private struct Answer {
        let body: Data
        let version: String?
    }

    private enum Attempt {
        case answered(Answer)
        case failed(GatewayFailure)
        /// The request can be repeated after a pause. It may have been performed, unless the gateway refused it with `too-many-requests`.
        case unanswered(GatewayFailure, pause: Duration, mayBeDone: Bool)
    }

    private func attempt(
        _ request: HTTPClientRequest, alsoAt statuses: Set<UInt> = [], within timeout: Duration = Self.answerTimeout
    ) async -> Attempt {
        do {
            let response = try await http.execute(request, timeout: TimeAmount(timeout))
            let body = Data(try await response.body.collect(upTo: Self.maxAnswerBytes).readableBytesView)
            if (200..<300).contains(response.status.code) || statuses.contains(response.status.code) {
                return .answered(Answer(body: body, version: response.headers.first(name: "ETag")))
            }
            let failure = failure(of: response, body)
            switch response.status.code {
            case 408, 429, 500..<507, 508...:
                let pause = response.headers.first(name: "Retry-After").flatMap { Int64($0) }.map { Duration.seconds($0) }
                return .unanswered(failure, pause: pause ?? Self.pause, mayBeDone: response.status != .tooManyRequests)
            default: return .failed(failure)
            }
        } catch {
            return .unanswered(unreachable(error, within: timeout), pause: Self.pause, mayBeDone: true)
        }
    }

    private func failure(of response: HTTPClientResponse, _ body: Data) -> GatewayFailure {
        let problem = (try? JSONCoder.decode(ProblemDocument.self, from: body))?.detail ?? "the status is \(response.status)"
        return switch response.status.code {
        case 401, 403: GatewayFailure(.notAllowed, token == nil ? noToken : problem)
        case 404: GatewayFailure(.notFound, problem)
        case 408, 429, 500...: GatewayFailure(.unreachable, problem)
        default: GatewayFailure(.refused, problem)
        }
    }

    /// - Parameter timeout: How long the gateway could take.
    private func unreachable(_ error: any Error, within timeout: Duration = Self.answerTimeout) -> GatewayFailure {
        let gateway = "the gateway at \(url) (\(source)) does not answer"
        let error = error as? HTTPClientError
        switch error {
        case .deadlineExceeded?: return GatewayFailure(.unreachable, "\(gateway) within \(timeout.components.seconds) s.")
        case .connectTimeout?:
            return GatewayFailure(.unreachable, "\(gateway) within \(Self.connectTimeout.components.seconds) s.")
        default:
            let reason = error?.shortDescription ?? "the connection failed"
            return GatewayFailure(.unreachable, "\(gateway): \(reason). Is it running?")
        }
    }
}
