import Base
import Schemas

/// The caller and its rights: the answer of `GET /session` and of a sign-in.
struct Session: Codable, Sendable {
    let account: AccountName
    /// What people call its person; missing for none.
    let displayName: String?
    let role: Role
    let kind: Credential.Kind
    /// What the caller may do now.
    let rights: [AccountRight]
    /// The parts of the cube that a token is restricted to; missing for the whole cube.
    let scope: [TopicPrefix]?
    /// The topics that the caller may send to; missing for all.
    let topics: [TopicKey]?
    /// When the sign-in or the token ends. Each use postpones the end of a sign-in, up to twelve hours after its beginning.
    let expires: UnixMilliseconds?
    /// Until when the confirmation of the password counts.
    let confirmedUntil: UnixMilliseconds?
    let secondFactor: SecondFactor

    private enum CodingKeys: String, CodingKey {
        case account, role, kind, rights, scope, topics, expires
        case displayName = "display_name"
        case confirmedUntil = "confirmed_until"
        case secondFactor = "second_factor"
    }

    init(_ credential: Credential, rights: [AccountRight], topics: [TopicKey]?) {
        account = credential.account
        displayName = credential.displayName
        role = credential.role
        kind = credential.kind
        self.rights = rights
        scope = credential.scope
        self.topics = topics
        expires = credential.expires
        confirmedUntil = credential.confirmedUntil
        secondFactor = credential.secondFactor
    }
}

/// The answer of `GET /session/ways`: what a page for signing in offers.
struct SignInMethods: Codable, Sendable {
    /// Always possible.
    let password: Bool
    /// Whether an OpenID Connect provider is set up.
    let provider: Bool
    /// Whether the request has the cookie of a valid sign-in.
    let signedIn: Bool

    private enum CodingKeys: String, CodingKey {
        case password, provider
        case signedIn = "signed_in"
    }
}

extension SignInMethods: HasExample {
    static var example: SignInMethods { SignInMethods(password: true, provider: false, signedIn: false) }
}

/// The body of `POST /session`.
struct SignInDraft: Codable, Checked, Sendable {
    /// Any text: an invalid name gets the same answer as a wrong one.
    let account: String
    let password: Secret
    /// A code of the authenticator app, or a recovery code.
    let code: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, password, code
    }

    func check() throws(SchemaViolation) {
        try TextLimits.sender.check(account, CodingKeys.account)
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}

/// The body of `POST /session/invitation/check`.
struct InvitationDraft: Codable, Checked, Sendable {
    /// What the link has behind `invitation=`.
    let invitation: Secret

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case invitation
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.invitation.check(invitation.text, CodingKeys.invitation)
    }
}

/// The body of `POST /session/invitation`.
struct InvitationAcceptance: Codable, Checked, Sendable {
    /// What the link has behind `invitation=`.
    let invitation: Secret
    /// The new password.
    let password: Secret
    /// A code of the authenticator app, or a recovery code.
    let code: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case invitation, password, code
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.invitation.check(invitation.text, CodingKeys.invitation)
        try PeopleLimits.checkNew(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}

/// The body of `PUT /session`: the password to confirm. For a sign-in at the provider that still lacks its code, the code alone.
struct ConfirmationDraft: Codable, Checked, Sendable {
    let password: Secret?
    /// A code of the authenticator app, or a recovery code.
    let code: Secret?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case password, code
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}

extension SignInDraft: HasExample {
    static var example: SignInDraft { SignInDraft(account: "ann", password: .examplePassword, code: nil) }
}

extension InvitationDraft: HasExample {
    static var example: InvitationDraft { InvitationDraft(invitation: .exampleInvitation) }
}

extension InvitationAcceptance: HasExample {
    static var example: InvitationAcceptance {
        InvitationAcceptance(invitation: .exampleInvitation, password: .examplePassword, code: nil)
    }
}

extension ConfirmationDraft: HasExample {
    static var example: ConfirmationDraft { ConfirmationDraft(password: .examplePassword, code: nil) }
}

extension ConfirmationDraft: SchemaAnnotated {
    static var schemaAnnotations: JSONValue { ["anyOf": [["required": ["password"]], ["required": ["code"]]]] }
}
