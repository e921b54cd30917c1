import AsyncHTTPClient
import FoundationEssentials
import Base
import NIOCore
import NIOHTTP1
import ServiceKit

/// Whether the OpenID Connect provider answers, and is the issuer that the settings name (OpenID Connect Discovery 1.0, section 4.3).
struct OpenIDCheck: Sendable {
    private static let timeout = TimeAmount.seconds(5)

    private let issuer: String?

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        issuer = try settings.optional(.oidcIssuer)
    }

    func findings() async throws -> [Finding] {
        guard let issuer else { return [] }
        let address = (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
        let found = await Self.issuer(at: address, http)
        try await http.shutdown()
        switch found {
        case .success(issuer): return [.ok(.signIn, "the provider \(issuer) answers")]
        case .success(let other):
            return [
                .failure(
                    .signIn, "nobody can sign in at the provider: MSI_OIDC_ISSUER is \(issuer), and \(address) says \(other)",
                    "set MSI_OIDC_ISSUER to the provider's own words, to the last slash, and restart msi-people")
            ]
        case .failure(let failure):
            return [
                .failure(
                    .signIn, "nobody can sign in at the provider: \(address) \(failure.problem)",
                    "check MSI_OIDC_ISSUER, and whether this machine reaches the provider")
            ]
        }
    }

    private struct Failure: Error {
        let problem: String
    }

    private static func issuer(at address: String, _ http: HTTPClient) async -> Result<String, Failure> {
        do {
            let response = try await http.execute(HTTPClientRequest(url: address), timeout: timeout)
            guard response.status == .ok else { return .failure(Failure(problem: "answers \(response.status.code)")) }
            let body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            guard let issuer = (try? JSONValue(parsing: body))?["issuer"]?.string else {
                return .failure(Failure(problem: "names no issuer"))
            }
            return .success(String(issuer.prefix(200)))
        } catch {
            return .failure(Failure(problem: "does not answer"))
        }
    }
}
