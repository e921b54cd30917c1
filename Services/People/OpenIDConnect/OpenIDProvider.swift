import AsyncHTTPClient
import FoundationEssentials
import Base
import Logging
import NIOCore
import NIOHTTP1
import Schemas

/// The university's OpenID Connect provider: its metadata and its keys, which are read on demand and kept for a while, and its
/// token endpoint.
struct OpenIDProvider: Sendable {
    private static let metadataLifetime = Duration.seconds(3_600)

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

    /// Reading them may throw what ``currentMetadata()`` throws.
    let keys: ProviderKeys
    private let settings: OpenIDSettings
    private let client: ProviderClient
    private let metadata: SharedReading<Metadata>

    init(_ settings: OpenIDSettings, times: ProviderTimes, logger: Logger) {
        self.settings = settings
        let client = ProviderClient(timeout: times.request)
        self.client = client
        let metadata = SharedReading(failureLifetime: times.failureLifetime) {
            try await logger.logging("nobody can sign in at the provider") { try await client.metadata(of: settings.issuer) }
        }
        self.metadata = metadata
        keys = ProviderKeys(times) {
            let address = try await metadata.value(maxAge: Self.metadataLifetime).keys
            return try await logger.logging("the provider's keys cannot be read") { try await client.keys(at: address) }
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
            throw client.failure("its answer has no ID token")
        }
        return token
    }
}

extension Logger {
    /// Logs why a provider cannot be used. Readings are shared, so it is at most one line for each ``ProviderTimes/failureLifetime``.
    func logging<Value>(_ what: Logger.Message, _ read: () async throws -> Value) async throws -> Value {
        do {
            return try await read()
        } catch let failure as CommandFailure {
            error(what, metadata: ["error": "\(failure.message)"])
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
        else { throw failure("its configuration is not valid") }
        guard read.issuer == issuer else {
            throw CommandFailure(
                .internal,
                "the OpenID Connect provider says that its issuer is \(read.issuer.prefix(200)), and MSI_OIDC_ISSUER is \(issuer): both "
                    + "must be the same, to the last slash")
        }
        return read
    }
}
