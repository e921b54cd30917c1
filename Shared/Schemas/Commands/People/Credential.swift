import Base

/// Who a sign-in or a token belongs to, and what it may do.
package struct Credential: Codable, Hashable, Sendable {
    package enum Kind: String, ClosedEnum {
        case signIn = "sign_in"
        case token
    }

    package let kind: Kind
    /// The id of the token or of the sign-in.
    package let id: ObjectID
    package let account: AccountName
    /// What people call its person; `nil` for none.
    package let displayName: String?
    package let role: Role
    /// The rights of the role; for a token, the subset that it was given.
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
    /// The sequence number of the latest change that this answer reflects; see ``PeopleChanged``.
    package let sequence: Int64

    package init(
        kind: Kind, id: ObjectID, account: AccountName, displayName: String? = nil, role: Role, rights: [AccountRight],
        scope: [TopicPrefix]? = nil, expires: UnixMilliseconds? = nil, maxExpires: UnixMilliseconds? = nil,
        isOperator: Bool? = nil,
        confirmedUntil: UnixMilliseconds? = nil, secondFactor: SecondFactor = .none, sequence: Int64
    ) {
        self.kind = kind
        self.id = id
        self.account = account
        self.displayName = displayName
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
        case displayName = "display_name"
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

    /// Whether it is valid at a time. A sign-in that seems to last longer than the maximum began while the clock was ahead, and is not
    /// valid.
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

/// The SHA-256 of a credential's secret: of the value of a sign-in's cookie, or of a bearer token. In JSON it is 64
/// lower-case hexadecimal digits. Stores and caches contain only hashes.
package struct CredentialHash: Hashable, Sendable {
    /// The 64 digits.
    package let description: String

    /// - Parameter digest: The 32 bytes of the SHA-256.
    package init(digest: some Sequence<UInt8>) {
        description = digest.hexadecimal
        precondition(description.utf8.count == 64, "a SHA-256 has 32 bytes")
    }
}

extension CredentialHash: TextCodable {
    package init?(_ description: String) {
        guard description.utf8.count == 64,
            description.utf8.allSatisfy({ $0.hexadecimalValue < 16 && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.description = description
    }

    package static var expected: String { "64 lower-case hexadecimal digits (a SHA-256)" }
    package static var pattern: String { "^[0-9a-f]{64}$" }
    package static var example: String { String(repeating: "0f", count: 32) }
}
