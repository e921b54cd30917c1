import AsyncHTTPClient
import FoundationEssentials
import Base
import JWTKit
import Logging
import NIOCore
import NIOHTTP1
import Schemas

/// The university's OpenID Connect provider: its metadata and its keys, which are read on demand and kept for a while, and its
/// token endpoint.
struct OpenIDProvider: Sendable {
    private static let metadataLifetime = Duration.seconds(3_600)
    private static let keyLifetime = Duration.seconds(600)

    /// The provider's description (OpenID Connect Discovery 1.0).
    struct Metadata: Codable, Hashable, Sendable {
        let issuer: String
        let authorizationEndpoint: String
        let tokenEndpoint: String
        let keys: String
        let authenticationMethods: [String]?
        /// Whether the answers to the browser name the issuer (RFC 9207).
        let namesIssuer: Bool?

        enum CodingKeys: String, CodingKey {
            case issuer
            case namesIssuer = "authorization_response_iss_parameter_supported"
            case authorizationEndpoint = "authorization_endpoint"
            case tokenEndpoint = "token_endpoint"
            case keys = "jwks_uri"
            case authenticationMethods = "token_endpoint_auth_methods_supported"
        }
    }

    private let settings: OpenIDSettings
    private let minKeyAge: Duration
    private let client: ProviderClient
    private let metadata: SharedReading<Metadata>
    private let keys: SharedReading<[JWK]>

    init(_ settings: OpenIDSettings, times: ProviderTimes, logger: Logger) {
        self.settings = settings
        minKeyAge = times.minKeyAge
        let client = ProviderClient(timeout: times.request)
        self.client = client
        let metadata = SharedReading(failureLifetime: times.failureLifetime) {
            try await logger.logging { try await client.metadata(of: settings.issuer) }
        }
        self.metadata = metadata
        keys = SharedReading(failureLifetime: times.failureLifetime) {
            let address = try await metadata.value(maxAge: Self.metadataLifetime).keys
            return try await logger.logging { try await client.keys(at: address) }
        }
    }

    /// Closes the connections.
    func close() async throws {
        try await client.close()
    }

    /// - Throws: ``CommandFailure``: `unavailable` if the provider does not answer, or not by the standard; `internal` if it is another
    ///   issuer than that of the settings, which only the operator can correct.
    func currentMetadata() async throws -> Metadata {
        try await metadata.value(maxAge: Self.metadataLifetime)
    }

    /// The key with an identifier. Without an identifier, the only key, which must have been read just now.
    ///
    /// - Throws: ``CommandFailure`` as ``currentMetadata()``; ``IDTokenRefusal`` if the provider has no such key.
    func key(_ identifier: String?) async throws -> JWK {
        // The provider may have begun to use a new key.
        for maxAge in identifier == nil ? [minKeyAge] : [Self.keyLifetime, minKeyAge] {
            if let key = Self.key(identifier, in: try await keys.value(maxAge: maxAge)) { return key }
        }
        throw IDTokenRefusal("its key is unknown")
    }

    /// Exchanges a code for an ID token.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` if the provider refuses the code.
    func idToken(for code: Secret, _ flow: OpenIDFlow) async throws -> String {
        let metadata = try await currentMetadata()
        var request = HTTPClientRequest(url: metadata.tokenEndpoint)
        request.method = .POST
        var form = [
            ("grant_type", "authorization_code"), ("code", code.text), ("redirect_uri", flow.redirect),
            ("code_verifier", flow.verifier), ("client_id", settings.clientID),
        ]
        if let secret = settings.clientSecret {
            if metadata.authenticationMethods?.contains("client_secret_basic") ?? true {
                let pair = FormEncoding.escaped(settings.clientID) + ":" + FormEncoding.escaped(secret.text)
                request.headers.add(name: "Authorization", value: "Basic " + Data(pair.utf8).base64EncodedString())
            } else {
                form.append(("client_secret", secret.text))
            }
        }
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: FormEncoding.encode(form)))
        let body = try await client.answer(
            to: request, refusal: CommandFailure(.unauthenticated, "the provider refuses the code; begin again"))
        guard let token = (try? JSONCoder.decode(JSONValue.self, from: body))?["id_token"]?.string else {
            throw ProviderClient.failure("its answer has no ID token")
        }
        return token
    }

    private static func key(_ identifier: String?, in keys: [JWK]) -> JWK? {
        guard let identifier else { return keys.count == 1 ? keys.first : nil }
        return keys.first { $0.keyIdentifier?.string == identifier }
    }
}

extension Logger {
    /// Logs why the provider cannot be used. Readings are shared, so it is at most one line for each ``ProviderTimes/failureLifetime``.
    fileprivate func logging<Value>(_ read: () async throws -> Value) async throws -> Value {
        do {
            return try await read()
        } catch let failure as CommandFailure {
            error("nobody can sign in at the provider", metadata: ["error": "\(failure.message)"])
            throw failure
        }
    }
}

extension ProviderClient {
    fileprivate func metadata(of issuer: String) async throws -> OpenIDProvider.Metadata {
        var address = issuer
        if address.hasSuffix("/") { address.removeLast() }
        let body = try await answer(at: address + "/.well-known/openid-configuration")
        guard let read = try? JSONCoder.decode(OpenIDProvider.Metadata.self, from: body),
            [read.authorizationEndpoint, read.tokenEndpoint, read.keys].allSatisfy({
                $0.hasPrefix("https://") || issuer.hasPrefix("http://")
            })
        else { throw Self.failure("its configuration is not valid") }
        guard read.issuer == issuer else {
            throw CommandFailure(
                .internal,
                "the OpenID Connect provider says that its issuer is \(read.issuer.prefix(200)), and MSI_OIDC_ISSUER is \(issuer): both "
                    + "must be the same, to the last slash")
        }
        return read
    }

    fileprivate func keys(at address: String) async throws -> [JWK] {
        let body = try await answer(at: address)
        guard let set = try? JSONCoder.decode(JSONValue.self, from: body), let elements = set["keys"]?.elements else {
            throw Self.failure("its keys are not valid")
        }
        // Keys of other kinds, or for encryption, do not concern this service.
        return elements.filter { $0["use"]?.string != "enc" }.compactMap { try? JSONCoder.decode(JWK.self, from: $0.data) }
    }
}

/// How long the service waits for the OpenID Connect provider, and how often it asks.
struct ProviderTimes {
    /// For a request with its whole answer.
    var request = Duration.seconds(5)
    /// How long a failure to read the metadata or the keys is cached.
    var failureLifetime = Duration.seconds(3)
    /// Keys with unknown identifiers do not cause more than one request in this time.
    var minKeyAge = Duration.seconds(10)
}

/// A value that is read on demand and kept for a while.
///
/// Simultaneous readers share one request. A failure is kept for a few seconds, so that a service that does not answer is not asked
/// by each caller.
actor SharedReading<Value: Sendable> {
    private let failureLifetime: Duration
    private let read: @Sendable () async throws -> Value
    private var latest: (value: Value, read: ContinuousClock.Instant)?
    private var failure: (error: any Error, at: ContinuousClock.Instant)?
    private var reading: Task<Value, any Error>?

    /// - Parameter read: Reads the value. It must end within a bounded time.
    init(failureLifetime: Duration, _ read: @escaping @Sendable () async throws -> Value) {
        self.failureLifetime = failureLifetime
        self.read = read
    }

    /// - Parameter maxAge: An older value is read again.
    /// - Throws: The error of the reading.
    func value(maxAge: Duration) async throws -> Value {
        if let latest, latest.read + maxAge > .now { return latest.value }
        if let failure, failure.at + failureLifetime > .now { throw failure.error }
        if let reading { return try await reading.value }
        let task = Task { [read] in try await read() }
        reading = task
        let result = await task.result
        reading = nil
        switch result {
        case .success(let value): latest = (value, .now)
        case .failure(let error): failure = (error, .now)
        }
        return try result.get()
    }
}
