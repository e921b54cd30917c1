import Base
import Foundation
import JWTKit
import NIOHTTP1
import ServiceKit
import TestSupport

@testable import IdentityEmulator

/// Runs the real server inside the test, on its own port.
///
/// - Parameter folder: The emulator's folder, which an earlier one may have used; by default a new one.
func withEmulator<Value: Sendable>(
    in folder: String? = nil, _ body: (IdentityServer) async throws -> Value
) async throws -> Value {
    guard let folder else {
        return try await withTemporaryFolder { try await withEmulator(in: $0 + "/identity-emulator", body) }
    }
    let emulator = try Emulator(folder: folder, port: 0, logger: quietLogger)
    let plan = ServicePlan(services: [emulator.server], close: {})
    return try await plan.run {
        let port = try await emulator.listeningPort()
        return try await withHTTPClient { http in
            try await body(IdentityServer(url: IdentityEmulatorAccess(port: port).url, http: http))
        }
    }
}

/// The first of the people who are there at the first start.
let dana = "100000000000000000001"

/// The keys that a provider publishes.
enum KeyPath {
    static let google = "/google/oauth2/v3/certs"
    static let firebase = "/firebase/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
}

extension IdentityServer {
    /// The claims of a token, which a published key must have signed by RS256.
    func claims(of token: String, keys path: String = KeyPath.google) async throws -> JSONValue {
        let keys = JWTKeyCollection()
        try await keys.add(jwksJSON: try await call(.GET, path).text)
        let signed = try await keys.verify(token, as: SignedClaims.self)
        return signed.claims
    }
}

/// All claims of a token, of which none is checked.
private struct SignedClaims: JWTPayload {
    let claims: JSONValue

    init(from decoder: any Decoder) throws {
        claims = try JSONValue(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try claims.encode(to: encoder)
    }

    func verify(using algorithm: some JWTAlgorithm) {}
}

extension String {
    /// The fields of an address after a mark, `#` or `?`, without percent encoding.
    func fields(after mark: Character) -> [String: String] {
        let text = drop { $0 != mark }.dropFirst().prefix { $0 != "#" }
        return Dictionary(
            text.split(separator: "&").map { field in
                let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1].removingPercentEncoding ?? parts[1] : "")
            }
        ) { $1 }
    }
}
