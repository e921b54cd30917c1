import Base
import HTTPRouting
import HTTPTypes
import Hummingbird
import Schemas

/// Google's servers: the keys of its ID tokens, their check for debugging, and the discovery document.
struct GoogleRoutes: Sendable {
    let keys: SigningKeys
    let traffic: Traffic

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("google/oauth2/v3/certs") { request, context in
            try await traffic.answer(request, context, of: .google) { try await .keys(keys, of: .google) }
        }
        router.get("google/oauth2/v3/tokeninfo") { request, context in
            try await traffic.answer(request, context, of: .google) { try await tokenInfo(request) }
        }
        router.get("google/.well-known/openid-configuration") { request, context in
            try await traffic.answer(request, context, of: .google) { Self.discovery(request) }
        }
    }

    /// All claims and the header's fields, each as a text.
    private func tokenInfo(_ request: Request) async throws -> Response {
        let key = try await keys.key(.current, of: .google)
        guard let token = request.queryParameters["id_token"],
            let (header, claims) = SignedToken.parts(of: token, signedBy: key),
            let expiry = claims["exp"]?.integer, expiry > UnixMilliseconds.now.seconds
        else { return Response(.badRequest, ["error_description": "Invalid Value"]) }
        let members = (claims.members ?? []) + (header.members ?? [])
        return Response(.ok, .object(members.map { .init($0.name, .string($0.value.string ?? $0.value.text)) }))
    }

    /// Only what the emulator serves.
    private static func discovery(_ request: Request) -> Response {
        let root = "http://\(request.head.authority ?? "127.0.0.1")"
        return Response(
            .ok,
            [
                "issuer": "https://accounts.google.com",
                "authorization_endpoint": .string("\(root)/\(Provider.google.signInPath)"),
                "jwks_uri": .string("\(root)/google/oauth2/v3/certs"), "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"],
                "scopes_supported": ["openid", "email", "profile"],
                "claims_supported": [
                    "aud", "email", "email_verified", "exp", "family_name", "given_name", "iat", "iss", "name", "picture", "sub",
                ],
            ])
    }
}

/// Firebase Authentication's keys.
struct FirebaseRoutes: Sendable {
    let keys: SigningKeys
    let traffic: Traffic

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("firebase/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com") { request, context in
            try await traffic.answer(request, context, of: .firebase) { try await .keys(keys, of: .firebase) }
        }
    }
}

extension Response {
    /// The published keys of a provider, for as long as Google lets its keys be kept.
    fileprivate static func keys(_ keys: SigningKeys, of provider: Provider) async throws -> Response {
        let key = try await keys.key(.current, of: provider)
        return Response(
            .ok, ["keys": [try key.publicDocument]],
            headers: [.cacheControl: "public, max-age=21155, must-revalidate, no-transform"])
    }
}
