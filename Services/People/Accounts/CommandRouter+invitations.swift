import Bus
import Crypto
import FoundationEssentials
import Schemas
import Store

extension CommandRouter {
    /// The commands about invitations.
    mutating func serveInvitations(_ people: People) {
        on(InviteAccount.self) { command, context in
            let secret = Secret.newInvitation(of: command.account)
            return try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                let invitation = InvitationRecord(secret, now: change.now)
                let account = try change.update(command.account, as: InviteAccount.name) { account in
                    guard account.isActive else {
                        throw CommandFailure(.conflict, "\(account.name) is disabled; enable it first")
                    }
                    guard account.role.isStaff else {
                        throw CommandFailure(
                            .conflict, "\(account.name) is a student's account, which signs in on devices and not by a link",
                            field: "account")
                    }
                    account.invitation = invitation
                }
                return account.account.with(invitation, secret)
            }
        }
        on(ReadInvitation.self) { command, _ in
            // The code comes later, and a wrong one is not forgotten by another look at the invitation.
            try await people.passwords.check(
                nil, for: .invitation(command.invitation, address: command.address), isAll: false
            ) { account in
                try account.requireInvitation(command.invitation, at: people.changes.now())
                guard let invitation = account.invitation else { throw CommandFailure.unusableInvitation }
                return ReadInvitation.Reply(
                    account: account.name, displayName: account.displayName, expires: invitation.expires,
                    needsCode: account.secondFactorState == .set)
            }
        }
        on(AcceptInvitation.self) { command, _ in
            try await SignInCount.invitation.count {
                try await people.passwords.check(
                    nil, for: .invitation(command.invitation, address: command.address), hasCode: command.code != nil
                ) { invited in
                    // Before the hash, which takes long.
                    try invited.requireInvitation(command.invitation, at: people.changes.now())
                    let password = try await people.passwords.hashing.hash(command.password)
                    let secret = Secret.newSignIn()
                    let author = AuditAuthor(actor: invited.name.description, address: command.address)
                    let credential = try await people.changes.make(by: author) { change in
                        try change.accept(command, password, secret: secret, of: invited.name)
                    }
                    return SignedIn(secret: secret, credential: credential)
                }
            }
        }
    }
}

extension PeopleChange {
    /// Sets the password of an invited account, and signs in.
    ///
    /// - Parameter secret: Of the new sign-in.
    fileprivate mutating func accept(
        _ command: AcceptInvitation, _ password: PasswordHash, secret: Secret, of name: AccountName
    ) throws -> Credential {
        let now = now
        let account = try update(name, as: AcceptInvitation.name, endsCredentials: true) { account in
            try account.requireInvitation(command.invitation, at: now)
            if account.secondFactor?.isConfirmed == true { try account.secondFactor?.accept(command.code, at: now) }
            account.password = password
            account.invitation = nil
        }
        // Its address is then known to the account.
        record(BeginSignIn.name, .account(account.name))
        return try add(
            SignInDocument(hash: CredentialHash(of: secret), account: account.name, address: command.address, now: now),
            of: account)
    }
}

extension Account {
    /// The account in the answer that makes its invitation: with the link.
    func with(_ invitation: InvitationRecord, _ secret: Secret) -> Account {
        var account = self
        account.invitation = Invitation(expires: invitation.expires, secret: secret)
        return account
    }
}

extension InvitationRecord {
    /// A new invitation.
    init(_ secret: Secret, now: UnixMilliseconds) {
        self.init(hash: CredentialHash(of: secret), expires: now + PeopleLimits.invitationTime)
    }

    /// Whether it has this secret, and has not ended at a time. The clock may have been ahead when it was made, and was set back since:
    /// it would last longer than a day.
    func matches(_ secret: Secret, at now: UnixMilliseconds) -> Bool {
        // The comparison of keys takes the same time wherever they differ.
        let (stored, given) = (hash.description, CredentialHash(of: secret).description)
        let isSame = SymmetricKey(data: Data(stored.utf8)) == SymmetricKey(data: Data(given.utf8))
        let latest = now + PeopleLimits.invitationTime + PeopleLimits.clockTolerance
        return isSame && now < expires && expires <= latest
    }
}

extension AccountDocument {
    /// - Throws: ``CommandFailure`` with `unauthenticated` unless it has an invitation with this secret, and may use it.
    func requireInvitation(_ secret: Secret, at now: UnixMilliseconds) throws {
        guard isActiveStaff, let invitation, invitation.matches(secret, at: now) else { throw CommandFailure.unusableInvitation }
    }
}

extension CommandFailure {
    /// An unknown invitation and one that has ended have the same answer.
    static var unusableInvitation: CommandFailure {
        CommandFailure(
            .unauthenticated, "invitation: it was used, has expired, or was replaced; ask a super user for a new one",
            field: "invitation")
    }
}

/// The stored invitation of an account. Its secret is only in the link.
struct InvitationRecord: Codable, Hashable, Sendable {
    let hash: CredentialHash
    let expires: UnixMilliseconds
}
