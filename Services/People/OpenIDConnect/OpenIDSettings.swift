import Base
import Schemas
import ServiceKit

/// How people sign in at the university's OpenID Connect provider.
struct OpenIDSettings: Sendable {
    let issuer: String
    let clientID: String
    /// `nil` for a public client, which proves itself by PKCE alone.
    let clientSecret: Secret?
    /// The client identifiers of native apps, which get ID tokens by themselves.
    let appClientIDs: [String]
    let scopes: [String]
    /// The claim with the name for a new account.
    let nameClaim: String
    let roles: RoleMapping
    let secondFactor: SecondFactorClaim
    let students: StudentClaim

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
        appClientIDs = try settings.value(.oidcAppClientIDs)
        scopes = try settings.value(.oidcScopes)
        nameClaim = try settings.value(.oidcNameClaim)
        roles = RoleMapping(
            claim: try settings.value(.oidcRoleClaim), superUsers: Set(try settings.value(.oidcSuperUsers)),
            communicators: Set(try settings.value(.oidcCommunicators)))
        secondFactor = SecondFactorClaim(
            claim: try settings.value(.oidcSecondFactorClaim), values: Set(try settings.value(.oidcSecondFactors)))
        students = StudentClaim(
            claim: roles.claim, students: Set(try settings.value(.oidcStudents)),
            professors: Set(try settings.value(.oidcProfessors)))
    }
}

/// Which role an account gets from a claim of the provider.
struct RoleMapping: Hashable, Sendable {
    /// The claim's name; with dots for a field of an inner object, such as `realm_access.roles`.
    let claim: String
    /// The claim's values that make a super user.
    let superUsers: Set<String>
    /// The claim's values that make a communicator.
    let communicators: Set<String>

    /// Without values, the provider says only who the person is, and each account has the role that it was added with.
    var isSet: Bool { !superUsers.isEmpty || !communicators.isEmpty }

    /// The highest role of a token's claims.
    func role(in claims: JSONValue) -> Role? {
        let values = claims.values(ofClaim: claim)
        if !values.isDisjoint(with: superUsers) { return .superUser }
        return values.isDisjoint(with: communicators) ? nil : .communicator
    }
}

/// The claim by which the provider states that it has checked a second factor.
struct SecondFactorClaim: Hashable, Sendable {
    /// The claim's name; with dots for a field of an inner object.
    let claim: String
    /// The claim's values that replace a second factor here; empty if none does.
    let values: Set<String>

    func isShown(by claims: JSONValue) -> Bool {
        !values.isDisjoint(with: claims.values(ofClaim: claim))
    }
}

/// What the role claim says about students.
struct StudentClaim: Hashable, Sendable {
    /// The claim's name, as in ``RoleMapping``.
    let claim: String
    /// The claim's values with which a person may register as a student; empty if everyone may.
    let students: Set<String>
    /// The claim's values that give the professor's mark.
    let professors: Set<String>

    func mayRegister(_ claims: JSONValue) -> Bool {
        students.isEmpty || !students.isDisjoint(with: claims.values(ofClaim: claim))
    }

    func isProfessor(_ claims: JSONValue) -> Bool { !professors.isDisjoint(with: claims.values(ofClaim: claim)) }
}

extension JSONValue {
    /// The texts of a claim, which is a text or a list of texts.
    ///
    /// - Parameter claim: The claim's name; with dots for a field of an inner object.
    func values(ofClaim claim: String) -> Set<String> {
        var value: JSONValue? = self
        // A name with dots, such as a URL, may also be one claim.
        if let whole = self[claim] {
            value = whole
        } else {
            for part in claim.split(separator: ".") { value = value?[String(part)] }
        }
        return Set((value?.elements ?? [value].compactMap { $0 }).compactMap(\.string))
    }
}
