import Schemas
import Store
import Base

/// An account as it is stored. A removed account stays, without its secrets, the person's name
/// and the last sign-in, so that its name is not used again.
struct AccountDocument: StoredDocument, Hashable {
    /// The name in lower case.
    let id: String
    /// The name as its creator wrote it.
    let name: AccountName
    /// What people call its person; `nil` for none.
    var displayName: String?
    var role: Role
    /// `true` if it may create classes; `nil` otherwise.
    var professor: Bool?
    var disabled: Bool
    /// When it was removed; `nil` for an account.
    var removed: UnixMilliseconds?
    let created: UnixMilliseconds
    /// `nil` if it does not sign in with a password.
    var password: PasswordHash?
    /// Its identifier (`sub`) at the OpenID Connect provider. A removed account keeps it, so that the person does not come back.
    private(set) var oidc: String?
    /// The provider that the identifier is of.
    private(set) var oidcIssuer: String?
    /// The last sign-in at the provider.
    var openIDSignedIn: UnixMilliseconds?
    /// The last sign-in, an hour late at most.
    var signedIn: UnixMilliseconds?
    /// `nil` if it has none that may be used.
    var invitation: InvitationRecord?
    var secondFactorRequired: Bool
    /// `nil` if it has none.
    var secondFactor: SecondFactorRecord?
    /// What the request that registered it is recognised by if it is repeated; `nil` for an account that was not registered so.
    var createdKey: String?
    /// The beginning of the day, in UTC, of a student's last token or sign-in; of the creation, if there was none.
    var usedOn: UnixMilliseconds?
    /// When it was disabled because nobody used it. The next sign-in of its person enables it.
    var unusedSince: UnixMilliseconds?
    /// Flips with ``touch()``.
    private(set) var touched: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, role, professor, disabled, removed, created, password, invitation, oidc, touched
        case displayName = "display_name"
        case signedIn = "signed_in"
        case oidcIssuer = "oidc_issuer"
        case openIDSignedIn = "oidc_signed_in"
        case secondFactorRequired = "second_factor_required"
        case secondFactor = "second_factor"
        case createdKey = "created_key"
        case usedOn = "used_on"
        case unusedSince = "unused_since"
    }

    init(name: AccountName, role: Role, password: PasswordHash?, openID: OpenIDSubject?, created: UnixMilliseconds) {
        id = name.key
        self.name = name
        self.role = role
        disabled = false
        self.created = created
        self.password = password
        oidc = openID?.subject
        oidcIssuer = openID?.issuer
        secondFactorRequired = false
        usedOn = role == .student ? created.day : nil
    }
}

extension AccountDocument {
    /// Whether it can sign in and use its tokens.
    var isActive: Bool { !disabled && removed == nil }

    /// Whether it is enabled, and signs in to the portal. Nobody else has sign-ins, tokens or an invitation.
    var isActiveStaff: Bool { isActive && role.isStaff }

    /// Whether it is enabled, and is a student's.
    var isActiveStudent: Bool { isActive && role == .student }

    /// Who it is at the OpenID Connect provider; `nil` if it does not sign in there.
    var openID: OpenIDSubject? {
        get {
            guard let oidc, let oidcIssuer else { return nil }
            return OpenIDSubject(issuer: oidcIssuer, subject: oidc)
        }
        set { (oidc, oidcIssuer) = (newValue?.subject, newValue?.issuer) }
    }

    /// Whether it administers, and can sign in.
    ///
    /// - Parameter issuer: The provider that is set up; `nil` if there is none.
    func isActiveSuperUser(issuer: String?) -> Bool {
        isActive && role == .superUser && (password != nil || openID != nil && openID?.issuer == issuer)
    }

    /// Is called by each change that depends on the account and is stored elsewhere, such as a new device. So it and a change of the account
    /// at the same moment, such as another password, conflict on MongoDB as well, and one of the two runs again.
    mutating func touch() { touched = touched == true ? nil : true }

    /// How long tokens stay valid after the last sign-in, for an account that signs in only at the OpenID Connect provider: the
    /// university may have removed the person.
    static let maxTokenAge = Milliseconds.seconds(30 * 86_400)

    /// The end of a token; `nil` for none.
    func end(of token: TokenDocument) -> UnixMilliseconds? {
        guard password == nil, oidc != nil else { return token.expires }
        let latest = (openIDSignedIn ?? created) + Self.maxTokenAge
        return min(token.expires ?? latest, latest)
    }

    /// How much later than a sign-in the stored one may be.
    private static let signInPrecision = Milliseconds.seconds(3_600)

    /// Whether a sign-in at a time is worth storing. The clock may have been ahead at the stored one.
    func isNews(signInAt now: UnixMilliseconds) -> Bool {
        signedIn.map { !($0..<$0 + Self.signInPrecision).contains(now) } ?? true
    }

    private var lastSignIn: UnixMilliseconds? { [signedIn, openIDSignedIn].compactMap(\.self).max() }

    var secondFactorState: SecondFactor {
        if secondFactor?.isConfirmed == true { return .set }
        return secondFactorRequired ? .required : .none
    }

    /// Without its secrets.
    var account: Account {
        Account(
            account: name, displayName: displayName, role: role, professor: professor, disabled: disabled,
            secondFactor: secondFactorState, secondFactorRequired: secondFactorRequired, hasPassword: password != nil, oidc: oidc,
            created: created,
            lastSignIn: lastSignIn, invitation: invitation.map { Invitation(expires: $0.expires) })
    }

    /// As the audit log has it. An entry stays when a student is erased, so it has nothing about the person but the name.
    var audited: Account {
        guard !role.isStaff else { return account }
        return Account(
            account: name, role: role, professor: professor, disabled: disabled, secondFactor: secondFactorState,
            secondFactorRequired: secondFactorRequired, hasPassword: password != nil, oidc: nil, created: created)
    }
}

/// When students use their accounts.
extension AccountDocument {
    /// Whether it was disabled only because nobody used it.
    var isUnused: Bool { disabled && removed == nil && unusedSince != nil }

    /// Whether a use at a time is worth storing: it is the first one of its day.
    func isNews(useAt now: UnixMilliseconds) -> Bool { usedOn != now.day || unusedSince != nil }

    /// Its person has used it. One that was disabled only because nobody used it is enabled.
    mutating func use(at now: UnixMilliseconds) {
        if isUnused { disabled = false }
        usedOn = now.day
        unusedSince = nil
    }
}

extension UnixMilliseconds {
    /// The beginning of the day in UTC.
    var day: UnixMilliseconds { UnixMilliseconds(rawValue: rawValue - rawValue % 86_400_000) }
}
