import Base
import Schemas

/// A person as the provider identifies it: `sub` is unique at its issuer, and is never used for another person.
struct OpenIDSubject: Codable, Hashable, Sendable {
    let issuer: String
    let subject: String
}

/// A person who has signed in at the provider.
struct OpenIDPerson: Sendable {
    let subject: OpenIDSubject
    /// The role of the role claim; `nil` if the claim gives none.
    let role: Role?
    /// The sign-in that it confirms; `nil` for a first one.
    let confirms: CredentialHash?
    /// Whether the provider has checked a second factor.
    let hasSecondFactor: Bool
    /// The name for a new account.
    let name: Result<AccountName, CommandFailure>
}

/// A person who has signed in at the provider and has no account yet. The gateway gets it, sealed, checks the name against the access
/// lists, and sends it back.
struct OpenIDNewcomer: SealedText, Hashable {
    static let kind = "newcomer"
    static let lifetime = Milliseconds.seconds(60)

    let subject: OpenIDSubject
    let role: Role
    let account: AccountName
    let hasSecondFactor: Bool
    let made: UnixMilliseconds
}

extension OpenIDSettings {
    /// The person of an ID token.
    func person(_ token: IDToken, _ flow: OpenIDFlow) -> OpenIDPerson {
        OpenIDPerson(
            subject: OpenIDSubject(issuer: issuer, subject: token.subject), role: roles.role(in: token.claims),
            confirms: flow.confirms, hasSecondFactor: secondFactor.isShown(by: token.claims),
            name: Result { () throws(CommandFailure) in try name(in: token.claims) })
    }

    /// The name for a new account. An email address counts only if the provider has verified it.
    private func name(in claims: JSONValue) throws(CommandFailure) -> AccountName {
        let setting = "(MSI_OIDC_NAME_CLAIM is \(nameClaim))"
        if nameClaim == "email", claims["email_verified"] != .boolean(true) {
            throw CommandFailure(.forbidden, "the university's provider has not verified your email address \(setting)")
        }
        guard let name = claims[nameClaim]?.string.flatMap({ AccountName($0) }), name.mayBeNew else {
            throw CommandFailure(
                .forbidden,
                "the university's provider gives no name that an account can have \(setting); ask a super user to add an account")
        }
        return name
    }
}
