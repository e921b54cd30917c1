extension ServiceEntry {
    /// The service of accounts and rights.
    package static let people = ServiceEntry(
        "people", "keeps the accounts: who may sign in, and with which rights.",
        title: "people service",
        sockets: [.commands, .events],
        gatewayUses: [.commands, .events],
        keepsData: true,
        stateFiles: ["people.sqlite", "audit-heads.log"],
        settings: [
            Setting.oidcIssuer.declaration, Setting.oidcClientID.declaration, Setting.oidcClientSecret.declaration,
        ] + (Setting.oidcClientSecret.declaration.file.map { [$0] } ?? []) + [
            Setting.oidcScopes.declaration, Setting.oidcNameClaim.declaration, Setting.oidcRoleClaim.declaration,
            Setting.oidcSuperUsers.declaration, Setting.oidcCommunicators.declaration,
            Setting.oidcSecondFactorClaim.declaration, Setting.oidcSecondFactors.declaration,
        ])
}

extension Setting where Value == String {
    package static let oidcIssuer = Setting(
        "oidc.issuer", "The university's OpenID Connect provider, at which people may sign in; without it there is none.",
        expected: "the provider's issuer, https://HOST/PATH as it writes it; http:// only with a loopback address",
        parse: { isIssuer($0) ? $0 : nil })
    package static let oidcClientID = text(
        "oidc.client.id", "The identifier of this installation at the OpenID Connect provider.", expected: "a client identifier")
    package static let oidcClientSecret = Setting(
        "oidc.client.secret",
        "The secret of this installation at the OpenID Connect provider; without it, it is a public client.",
        expected: "a client secret", isSecret: true
    ) { $0.isEmpty ? nil : $0 }
    package static let oidcNameClaim = text(
        "oidc.name.claim",
        "The claim of the ID token that names a new account. Its people must not be able to choose it: access lists consist of names.",
        expected: "a claim's name, such as sub, preferred_username or email", default: "sub")
    package static let oidcRoleClaim = text(
        "oidc.role.claim",
        "The claim of the ID token with the person's roles; with dots for a field of an inner object, such as realm_access.roles.",
        expected: "a claim's name", default: "roles")

    package static let oidcSecondFactorClaim = text(
        "oidc.second.factor.claim", "The claim of the ID token that says how the person has signed in.",
        expected: "a claim's name, such as amr or acr", default: "amr")

    private static func isIssuer(_ text: String) -> Bool {
        guard !text.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }) else { return false }
        if text.hasPrefix("https://") {
            return HTTPAuthority(text.dropFirst(8).prefix { $0 != "/" }) != nil
        }
        return text.prefixMatch(of: /http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/) != nil
    }
}

extension Setting where Value == [String] {
    package static let oidcScopes = list(
        "oidc.scopes", "The scopes to ask the OpenID Connect provider for.", of: "scopes", default: "openid,profile,email")
    package static let oidcSuperUsers = list(
        "oidc.super.users",
        "The values of the role claim that make a person a super user. If any value makes a role, a person without one is refused.",
        of: "values", default: "")
    package static let oidcCommunicators = list(
        "oidc.communicators", "The values of the role claim that make a person a communicator.", of: "values", default: "")

    package static let oidcSecondFactors = list(
        "oidc.second.factors",
        "The values of that claim with which the provider's second factor replaces the account's own; without values none does.",
        of: "values", default: "")

    private static func list(_ key: String, _ summary: String, of what: String, default fallback: String) -> Setting {
        Setting(key, summary, expected: "\(what), separated by commas", default: fallback) { items(of: $0) }
    }
}
