import FoundationEssentials
import Schemas
import Store

/// A push to a person that the outbox has not stored yet. It was added in the transaction of what it is about.
struct QueuedPush: StoredDocument, Hashable {
    /// The push's idempotency key.
    let id: String
    /// ``LogPush`` as JSON.
    let command: String
    /// The person who gets it, by the account's name in lower case.
    let account: String
    let at: UnixMilliseconds
    /// When `msi restore` put it back from a backup; `nil` for a push of this life of the data. It may have been sent after the backup was
    /// made, so the outbox holds it.
    var restored: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case command, account, at, restored
    }

    init(_ push: LogPush, for account: AccountName, at now: UnixMilliseconds) throws {
        id = push.idempotencyKey
        command = String(decoding: try push.payload(), as: UTF8.self)
        self.account = account.key
        at = now
        restored = nil
    }

    /// The command for the outbox.
    ///
    /// - Throws: ``SchemaViolation`` if another program has changed it.
    var push: LogPush {
        get throws {
            var push = try LogPush(payload: Data(command.utf8))
            if restored != nil { push.held = true }
            return push
        }
    }
}

extension PeopleStore {
    static let queuedPushAccount = Field("account", \QueuedPush.account)

    static let queuedPushes = Collection<QueuedPush>(
        "person_push", indexes: [.on(queuedPushAccount)], reserve: .everything, kind: "queued push")
}

extension PeopleChange {
    /// Queues a push to a person, in the transaction of what it is about. After the commit, ``PersonPushes/wake()`` sends it.
    ///
    /// - Parameter push: Its idempotency key is that of the queued document, so it is unique among all pushes.
    /// - Throws: ``SchemaViolation`` for a push that the outbox would refuse.
    func queue(_ push: LogPush, for account: AccountName) throws {
        try push.check()
        try transaction.insert(QueuedPush(push, for: account, at: now), into: PeopleStore.queuedPushes)
    }
}
