import JSON

/// Who a sign-in or a token belongs to, and what it may do.
package struct Credential: Codable, Hashable, Sendable {
    package enum Kind: String, ClosedEnum {
        case signIn = "sign_in"
        case token
    }

    package let kind: Kind
    /// Of the token; for a sign-in, of its own.
    package let id: ObjectID
    package let account: AccountName
    package let role: Role
    /// The role's rights; for a token, those of them that it has.
    package let rights: [AccountRight]
    /// The parts of the cube for which it may send and read; `nil` for no restriction.
    package let scope: [TopicPrefix]?
    /// `nil` for no end. The use of a sign-in postpones it; see ``used(at:)``.
    package private(set) var expires: UnixMilliseconds?
    /// The latest end of a sign-in, however much it is used; `nil` for a token.
    package let maxExpires: UnixMilliseconds?
    /// Whether it is the operator's token; absent otherwise.
    package let isOperator: Bool?
    /// The end of the time for which the password was confirmed.
    package let confirmedUntil: UnixMilliseconds?
    /// The account's. While one is required and not set up, its tokens do not work either.
    package let secondFactor: SecondFactor
    /// The number of the changes that this answer contains; see ``PeopleChanged``.
    package let sequence: Int64

    package init(
        kind: Kind, id: ObjectID, account: AccountName, role: Role, rights: [AccountRight], scope: [TopicPrefix]? = nil,
        expires: UnixMilliseconds? = nil, maxExpires: UnixMilliseconds? = nil, isOperator: Bool? = nil,
        confirmedUntil: UnixMilliseconds? = nil, secondFactor: SecondFactor = .none, sequence: Int64
    ) {
        self.kind = kind
        self.id = id
        self.account = account
        self.role = role
        self.rights = rights
        self.scope = scope
        self.expires = expires
        self.maxExpires = maxExpires
        self.isOperator = isOperator
        self.confirmedUntil = confirmedUntil
        self.secondFactor = secondFactor
        self.sequence = sequence
    }

    private enum CodingKeys: String, CodingKey {
        case kind, id, account, role, rights, scope, expires, sequence
        case isOperator = "operator"
        case maxExpires = "max_expires"
        case confirmedUntil = "confirmed_until"
        case secondFactor = "second_factor"
    }

    /// The credential after a use at a time. The use of a sign-in postpones its end.
    package func used(at time: UnixMilliseconds) -> Credential {
        guard let expires, let maxExpires else { return self }
        var credential = self
        credential.expires = max(expires, min(time + PeopleLimits.signInIdleLimit, maxExpires))
        return credential
    }

    /// Whether it has begun and has not ended at a time. The clock may have been ahead when a sign-in began, and was set back since:
    /// it would last longer than twelve hours.
    package func isValid(at now: UnixMilliseconds) -> Bool {
        if let expires, expires <= now { return false }
        guard let maxExpires else { return true }
        return maxExpires <= now + PeopleLimits.maxSignInDuration + PeopleLimits.clockTolerance
    }

    /// Whether the password was confirmed a short time before a time. As for ``isValid(at:)``, the clock may have been ahead.
    package func isConfirmed(at now: UnixMilliseconds) -> Bool {
        guard let confirmedUntil, now < confirmedUntil else { return false }
        return confirmedUntil <= now + PeopleLimits.confirmationTime + PeopleLimits.clockTolerance
    }
}
