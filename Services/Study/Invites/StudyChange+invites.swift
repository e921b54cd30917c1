import Base
import Schemas
import Store

extension StudyChange {
    /// Invites persons of a class to a session that the caller attends or hosts. Who was invited by somebody else is invited by the
    /// caller from now on, and is not told again.
    ///
    /// - Returns: Whom it has invited. The others are not in the class, have to do with the session already, or were invited
    ///   before.
    /// - Throws: ``CommandFailure``: `not_found`; `forbidden` for somebody else; `conflict` with the field `ended`, and with
    ///   `accounts` at the limit, when nobody is invited.
    mutating func invite(_ command: InviteToSession, by account: AccountName) throws -> [AccountName] {
        let member = try transaction.require(.inviteToSession, of: account, in: command.classID).member
        let session = try transaction.openSession(command.id, for: member, at: now, rules)
        guard session.concerns(account.key) else {
            throw CommandFailure(.forbidden, "only those who attend or host a session invite others to it")
        }
        let others = try invitable(command.accounts, to: session, by: account)
        guard !others.isEmpty else { return [] }
        let before = try transaction.count(ofInvitesBy: account.key, to: session.id)
        guard before + others.count <= rules.invites else {
            throw CommandFailure(
                .conflict, "accounts: you have invited \(before) persons to this session, and may invite \(rules.invites)",
                field: "accounts")
        }
        // Who leaves the class or is erased in the same moment conflicts with it, and leaves no invitation.
        try changePerson(account) { _ in }
        var invited: [AccountName] = []
        for (other, earlier) in others {
            try changePerson(other.name) { _ in }
            let invite = InviteDocument(
                id: earlier ?? ObjectID(), session: session.id, classID: session.classID, to: other.account, by: member.account,
                byName: member.name, at: now, expires: session.latestEnd(rules))
            if earlier == nil {
                try transaction.insert(invite, into: StudyStore.invites)
                invited.append(other.name)
            } else {
                // If the person and that inviter are no longer friends, the invitation is hidden.
                try transaction.update(invite.id, in: StudyStore.invites) { $0 = invite }
            }
            changed(.person(other.name, .invites, id: session.id))
        }
        try tell(.invited, of: session, to: invited)
        return invited
    }

    /// The members that the inviter can invite, each once, with the invitation that another person has sent them.
    private func invitable(
        _ accounts: [AccountName], to session: SessionDocument, by inviter: AccountName
    ) throws -> [(member: EnrolmentDocument, earlier: ObjectID?)] {
        var seen: Set<AccountName> = []
        var found: [(member: EnrolmentDocument, earlier: ObjectID?)] = []
        for account in accounts where seen.insert(account).inserted && !session.concerns(account.key) {
            guard let member = try transaction.enrolment(of: account.key, in: session.classID) else { continue }
            let earlier = try transaction.invite(of: account.key, to: session.id)
            if earlier?.by != inviter.key { found.append((member, earlier?.id)) }
        }
        return found
    }
}

extension SessionDocument {
    /// Whether a person attends or hosts it.
    ///
    /// - Parameter account: In lower case.
    fileprivate func concerns(_ account: String) -> Bool {
        host == account || attendants.contains { $0.account == account }
    }

    /// Until when the host may put off its end.
    fileprivate func latestEnd(_ rules: StudyRules) -> UnixMilliseconds {
        max(ends, starts + .seconds(Int64(rules.maxMinutes).multiplied(by: 60)))
    }
}

extension Transaction {
    private static var maxInvites: Int { 1_000 }

    /// The invitation of a person to a session, whoever invites; `nil` for none.
    ///
    /// - Parameter account: In lower case.
    func invite(of account: String, to session: ObjectID) throws -> InviteDocument? {
        let query = Query(where: StudyStore.inviteSession == session, StudyStore.inviteTo == account)
        return try page(of: StudyStore.invites, query, limit: 1).documents.first?.document
    }

    /// The invitations to a person, the newest first. Their sessions may have ended.
    ///
    /// - Parameter account: In lower case.
    func invites(of account: String) throws -> [InviteDocument] {
        let query = Query(where: StudyStore.inviteTo == account)
        let found = try page(of: StudyStore.invites, query, limit: Self.maxInvites).documents.map(\.document)
        return found.sorted { ($0.at, $0.id) > ($1.at, $1.id) }
    }

    /// How many persons somebody has invited to a session.
    fileprivate func count(ofInvitesBy account: String, to session: ObjectID) throws -> Int {
        var (count, cursor): (Int, Cursor?) = (0, nil)
        repeat {
            let page = try page(
                of: StudyStore.invites, Query(where: StudyStore.inviteBy == account), after: cursor, limit: Self.maxInvites)
            count += page.documents.count { $0.document.session == session }
            cursor = page.next
        } while cursor != nil
        return count
    }
}
