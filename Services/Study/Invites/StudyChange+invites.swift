import Base
import Schemas
import Store

extension StudyChange {
    /// Invites persons of a class to a session that the caller attends or hosts.
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
        let others = try invitable(command.accounts, to: session)
        guard !others.isEmpty else { return [] }
        let before = try transaction.count(ofInvitesBy: account.key, to: session.id)
        guard before + others.count <= rules.invites else {
            throw CommandFailure(
                .conflict, "accounts: you have invited \(before) persons to this session, and may invite \(rules.invites)",
                field: "accounts")
        }
        // Who leaves the class or is erased in the same moment conflicts with it, and leaves no invitation.
        try changePerson(account) { _ in }
        for other in others {
            try changePerson(other.name) { _ in }
            let invite = InviteDocument(
                id: ObjectID(), session: session.id, classID: session.classID, to: other.account, by: member.account,
                byName: member.name, at: now, expires: session.latestEnd(rules))
            try transaction.insert(invite, into: StudyStore.invites)
            changed(.person(other.name, .invites, id: session.id))
        }
        try tell(.invited, of: session, to: others.map(\.name))
        return others.map(\.name)
    }

    /// Those of some persons who can be invited, each once.
    private func invitable(_ accounts: [AccountName], to session: SessionDocument) throws -> [EnrolmentDocument] {
        var seen: Set<AccountName> = []
        var found: [EnrolmentDocument] = []
        for account in accounts where seen.insert(account).inserted && !session.concerns(account.key) {
            guard let member = try transaction.enrolment(of: account.key, in: session.classID),
                try transaction.invite(of: account.key, to: session.id) == nil
            else { continue }
            found.append(member)
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
