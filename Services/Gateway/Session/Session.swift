import Schemas

/// Who the caller is, and what it may do.
struct Session: Codable, Sendable {
    let account: AccountName
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
        case confirmedUntil = "confirmed_until"
        case secondFactor = "second_factor"
    }

    init(_ credential: Credential, rights: [AccountRight], topics: [TopicKey]?) {
        account = credential.account
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
