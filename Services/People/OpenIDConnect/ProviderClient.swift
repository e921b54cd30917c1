import AsyncHTTPClient
import Base
import FoundationEssentials
import JWTKit
import NIOCore
import NIOHTTP1
import Schemas

/// Requests to a provider that confirms who people are. Neither its errors nor the log have a request's query, which may contain secrets.
actor ProviderClient {
    private static let maxBytes = 1 << 20

    /// What errors call the provider.
    private let provider: String
    private let timeout: Duration
    /// Made with the first request.
    private var http: HTTPClient?

    /// - Parameter timeout: For a request with its whole answer.
    init(_ provider: String = "the OpenID Connect provider", timeout: Duration) {
        self.provider = provider
        self.timeout = timeout
    }

    /// Closes the connections.
    func close() async throws {
        try await http?.shutdown()
        http = nil
    }

    /// The document at an address.
    ///
    /// - Throws: As ``answer(to:refusal:)``.
    func answer(at address: String) async throws -> Data {
        try await answer(to: HTTPClientRequest(url: address))
    }

    /// The body of a 200.
    ///
    /// - Parameter refusal: The error for a 400 or 401.
    /// - Throws: ``CommandFailure`` with `unavailable` if the provider does not answer in time, or answers something else.
    func answer(to request: HTTPClientRequest, refusal: CommandFailure? = nil) async throws -> Data {
        let (status, body) = try await anyAnswer(to: request)
        if let refusal, status == .badRequest || status == .unauthorized { throw refusal }
        guard status == .ok else { throw failure("it answers \(status.code)") }
        return body
    }

    /// An answer with any status.
    ///
    /// - Throws: ``CommandFailure`` with `unavailable` if the provider does not answer in time.
    func anyAnswer(to request: HTTPClientRequest) async throws -> (status: HTTPResponseStatus, body: Data) {
        var request = request
        request.headers.add(name: "Accept", value: "application/json")
        guard let (status, body) = try? await Self.answer(to: request, from: client, within: timeout) else {
            throw failure("it does not answer")
        }
        return (status, Data(body.readableBytesView))
    }

    /// The keys at an address.
    ///
    /// - Throws: As ``answer(to:refusal:)``.
    func keys(at address: String) async throws -> [JWK] {
        let body = try await answer(at: address)
        guard let set = try? JSONCoder.decode(JSONValue.self, from: body), let elements = set["keys"]?.elements else {
            throw failure("its keys are not valid")
        }
        // Keys of other kinds, or for encryption, do not concern this service.
        return elements.filter { $0["use"]?.string != "enc" }.compactMap { try? JSONCoder.decode(JWK.self, from: $0.data) }
    }

    /// The client's own deadline ends with the answer's head, so this one covers the body as well.
    private static func answer(
        to request: HTTPClientRequest, from client: HTTPClient, within timeout: Duration
    ) async throws -> (HTTPResponseStatus, ByteBuffer) {
        try await withThrowingTaskGroup(of: (HTTPResponseStatus, ByteBuffer).self) { group in
            group.addTask {
                let response = try await client.execute(request, timeout: TimeAmount(timeout))
                return (response.status, try await response.body.collect(upTo: maxBytes))
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw HTTPClientError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    /// What is wrong with the provider. The students' app tells it from an outage of the hub by its words.
    ///
    /// - Parameter retryAfter: The time after which it may be asked again, if that is known.
    nonisolated func failure(_ problem: String, retryAfter: Milliseconds? = nil) -> CommandFailure {
        CommandFailure(.unavailable, "\(provider) cannot be used: \(problem)", retryAfter: retryAfter)
    }

    private var client: HTTPClient {
        if let http { return http }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
        http = client
        return client
    }
}

/// The form of query parameters and of form bodies: `application/x-www-form-urlencoded`.
enum FormEncoding {
    static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { escaped($0.name) + "=" + escaped($0.value) }.joined(separator: "&")
    }

    /// Escapes everything except letters, digits and `-._~`.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                escaped.append(Character(Unicode.Scalar(byte)))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return escaped
    }
}
