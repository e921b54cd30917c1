import Schemas
import ServiceKit

/// How people sign in at the university's OpenID Connect provider.
struct OpenIDSettings: Sendable {
    let issuer: String
    let clientID: String
    /// `nil` for a public client, which proves itself by PKCE alone.
    let clientSecret: Secret?
    let scopes: [String]
    /// The claim with the name for a new account.
    let nameClaim: String
    let roles: RoleMapping
    let secondFactor: SecondFactorClaim

    /// - Returns: `nil` if no provider is set.
    /// - Throws: ``ConfigurationError``.
    init?(_ settings: SettingValues) throws {
        guard let issuer = try settings.optional(.oidcIssuer) else { return nil }
        guard let clientID = try settings.optional(.oidcClientID) else {
            throw ConfigurationError("\(Setting.oidcClientID.declaration.name) is required with an issuer")
        }
        self.issuer = issuer
        self.clientID = clientID
        clientSecret = try settings.optional(.oidcClientSecret).map(Secret.init)
        scopes = try settings.value(.oidcScopes)
        nameClaim = try settings.value(.oidcNameClaim)
        roles = RoleMapping(
            claim: try settings.value(.oidcRoleClaim), superUsers: Set(try settings.value(.oidcSuperUsers)),
            communicators: Set(try settings.value(.oidcCommunicators)))
        secondFactor = SecondFactorClaim(
            claim: try settings.value(.oidcSecondFactorClaim), values: Set(try settings.value(.oidcSecondFactors)))
    }
}
