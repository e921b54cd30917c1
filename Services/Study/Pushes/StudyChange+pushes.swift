import PersonPushes
import Schemas
import Store

extension StudyStore {
    /// The pushes that the message log has not stored yet.
    static let queuedPushes = Collection<QueuedPush>(StudyHold.pushes, reserve: .everything, kind: "queued push")
}

extension StudyChange {
    /// Queues pushes about a session, in the transaction of what they are about. After the commit, `PersonPushes` hands them over
    /// when it is woken.
    ///
    /// - Parameters:
    ///   - session: As it is after the change.
    ///   - accounts: The persons, not the one who has caused it. Each gets one push.
    func tell(_ notice: SessionNotice, of session: SessionDocument, to accounts: [AccountName]) throws {
        let expires = notice.expiry(of: session, at: now)
        // After an outage of this service it may be too late.
        guard now < expires else { return }
        var told: Set<AccountName> = []
        let others = accounts.filter { told.insert($0).inserted }
        for start in stride(from: 0, to: others.count, by: PushRecipient.maxAccounts) {
            let push = try LogPush(
                idempotencyKey: "\(ObjectID())", accounts: Array(others[start...].prefix(PushRecipient.maxAccounts)),
                kind: notice.kind, fairnessKey: Self.fairnessKey, message: notice.message(about: session), expires: expires)
            try transaction.insert(QueuedPush(push, at: now), into: StudyStore.queuedPushes)
        }
    }

    /// Queues pushes to the persons of its class who want to know of new sessions, except for the host.
    func tellBegun(_ session: SessionDocument) throws {
        var cursor: Cursor?
        repeat {
            let page = try transaction.announcing(in: session.classID, after: cursor)
            let others = page.documents.map(\.document).filter { $0.account != session.host }
            try tell(.begun, of: session, to: others.map(\.name))
            cursor = page.next
        } while cursor != nil
    }

    /// Pushes about sessions wait for each other in the outbox, and not for those of other senders.
    private static let fairnessKey = "study"
}

extension Transaction {
    /// Takes an erased person out of a page of the pushes that wait.
    ///
    /// - Returns: How many there were of the person, and where the next page begins; `nil` after the last one.
    func forgetPushes(of account: AccountName, after cursor: Cursor?, limit: Int) throws -> (count: Int, next: Cursor?) {
        let page = try page(of: StudyStore.queuedPushes, after: cursor, limit: limit)
        let own = page.documents.map(\.document).filter { $0.isFor(account) }
        var empty: [String] = []
        for push in own {
            guard let left = push.without(account) else {
                empty.append(push.id)
                continue
            }
            try update(push.id, in: StudyStore.queuedPushes) { $0 = left }
        }
        try delete(empty, from: StudyStore.queuedPushes)
        return (own.count, page.next)
    }
}
