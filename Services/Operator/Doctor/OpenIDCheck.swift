import FoundationEssentials
import Base
import NIOHTTP1
import ServiceKit

/// Whether the OpenID Connect provider answers, and is the issuer that the settings name (OpenID Connect Discovery 1.0, section 4.3).
struct OpenIDCheck: Sendable {
    private let issuer: String?

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        issuer = try settings.optional(.oidcIssuer)
    }

    func findings() async -> [Finding] {
        guard let issuer else { return [] }
        let address = (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
        switch await Self.issuer(at: address) {
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

    private static func issuer(at address: String) async -> Result<String, ProviderProbe.Failure> {
        await ProviderProbe.answer(at: address).flatMap { status, body in
            guard status == .ok else { return .failure(.init(problem: "answers \(status.code)")) }
            guard let issuer = (try? JSONValue(parsing: body))?["issuer"]?.string else {
                return .failure(.init(problem: "names no issuer"))
            }
            return .success(String(issuer.prefix(200)))
        }
    }
}
