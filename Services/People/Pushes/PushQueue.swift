import PersonPushes
import Schemas
import Store

extension PeopleStore {
    static let queuedPushAccount = Field("account", \QueuedPush.account)

    static let queuedPushes = Collection<QueuedPush>(
        "person_push", indexes: [.on(queuedPushAccount)], reserve: .everything, kind: "queued push")
}

extension PeopleChange {
    /// Queues a push to a person, in the transaction of what it is about. After the commit, `PersonPushes` sends it when it is woken.
    ///
    /// - Parameter push: Its idempotency key is that of the queued document, so it is unique among all pushes.
    /// - Throws: ``SchemaViolation`` for a push that the outbox would refuse.
    func queue(_ push: LogPush, for account: AccountName) throws {
        try transaction.insert(QueuedPush(push, for: account, at: now), into: PeopleStore.queuedPushes)
    }
}
