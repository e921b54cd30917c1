import Base
import HTTPRouting
import HTTPTypes
import ServiceKit

/// What an app asks the sign-in page of a provider for, and the address at which the browser comes back.
struct SignInRequest: Sendable {
    let provider: Provider
    let nonce: String?
    let scopes: Set<String>
    private let redirect: String
    private let state: String?

    /// - Throws: ``Refusal`` with what is wrong: the provider would show its own page about it, too.
    init(_ provider: Provider, _ query: QueryParameters) throws {
        func expect(_ name: String, _ value: String) throws {
            guard query[name] == value else {
                let found = query[name].map { "\"\($0.prefix(80))\"" } ?? "nothing"
                throw Refusal(.badRequest, "\(name): expected \(value), found \(found)")
            }
        }
        self.provider = provider
        nonce = query["nonce"]
        state = query["state"]
        scopes = Set((query["scope"] ?? "").split(separator: " ").map(String.init))
        guard let redirect = query["redirect_uri"], redirect.wholeMatch(of: /https?:\/\/[^\/?#]+[^#]*/) != nil else {
            throw Refusal(.badRequest, "redirect_uri: expected an http:// or https:// address without a fragment")
        }
        self.redirect = redirect
        switch provider {
        case .google:
            try expect("client_id", IdentityEmulatorAccess.clientID)
            try expect("response_type", "id_token")
            guard scopes.contains("openid") else { throw Refusal(.badRequest, "scope: expected openid among the scopes") }
            guard nonce?.isEmpty == false else { throw Refusal(.badRequest, "nonce: missing, and needed for an ID token") }
        case .firebase: break
        case .facebook:
            try expect("client_id", IdentityEmulatorAccess.appID)
            try expect("response_type", "token")
        }
    }

    /// Back to the app with a token, in the fragment.
    func address(with token: String) -> String {
        let fields =
            switch provider {
            case .google: [("id_token", token), ("authuser", "0"), ("prompt", "none")]
            case .firebase: [("id_token", token)]
            case .facebook: [("access_token", token), ("expires_in", "\(ProviderClaims.accessTokenLifetime)")]
            }
        return "\(redirect)#\(encoded(fields))"
    }

    /// Back to the app after the person has cancelled. Facebook says it in the query, and the others in the fragment.
    var addressOfCancel: String {
        guard provider == .facebook else { return "\(redirect)#\(encoded([("error", "access_denied")]))" }
        return withQuery([
            ("error", "access_denied"), ("error_code", "200"), ("error_description", "Permissions error"),
            ("error_reason", "user_denied"),
        ])
    }

    /// Back to the app after the provider has failed.
    var addressOfFailure: String {
        guard provider == .facebook else { return "\(redirect)#\(encoded([("error", "server_error")]))" }
        return withQuery([("error_code", "2"), ("error_message", "An unexpected error has occurred. Please retry later.")])
    }

    private func withQuery(_ fields: [(String, String)]) -> String {
        "\(redirect)\(redirect.contains("?") ? "&" : "?")\(encoded(fields))#_=_"
    }

    private func encoded(_ fields: [(String, String)]) -> String {
        (fields + (state.map { [("state", $0)] } ?? [])).map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
    }

    /// Escapes everything except letters, digits and `-._~`.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            guard byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) else {
                return "%" + [byte].hexadecimal.uppercased()
            }
            return String(character)
        }.joined()
    }
}
