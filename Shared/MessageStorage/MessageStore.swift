package import DurableFiles
package import Schemas

/// Where messages are archived, and with them how far each has come on its way to FCM (the seed's Message DAO).
///
/// Every method throws ``CommandFailure`` with status `unavailable` when the database is away, and those that write with
/// `storage_full` when there is no room. Pages and claims leave out what cannot be read as a message, and log it once.
package protocol MessageStore: Sendable {
    /// Stores a message durably, unless its `msi_key`, or its sender's idempotency key, is stored already.
    ///
    /// - Returns: The stored message when there was one, and then nothing was changed; `nil` when this one was stored.
    func insert(_ message: Message) async throws -> Message?

    func message(_ msiKey: ObjectID) async throws -> Message?

    /// The message that a sender posted with an idempotency key.
    func message(of sender: String, idempotencyKey: String) async throws -> Message?

    /// One page of what a filter leaves of the archive, newest first: by timestamp, and by `msi_key` where that is equal.
    ///
    /// - Parameters:
    ///   - before: The last message of the page before.
    ///   - checkTurn: Called when the reading begins, which may be long after the call; throws if the caller has given up.
    func page(
        _ filter: MessageFilter, before: PageCursor?, limit: Int, checkTurn: @escaping @Sendable () throws -> Void
    ) async throws -> [Message]

    /// Leases messages whose next attempt is due: the record gets the lease, and its end as the next attempt. Each is taken
    /// in one atomic step: of several claimants only one gets a message.
    ///
    /// Where more are due than are asked for, each topic has its share (``FairShare``), and within a topic the longest due go
    /// first.
    ///
    /// - Parameter now: Unix milliseconds.
    func claim(_ claim: Claim, lease: Lease, now: UnixMilliseconds) async throws -> [Message]

    /// Changes a message's relay record in one step: nothing that others write meanwhile is lost.
    ///
    /// - Parameter change: A pure function of the stored message; it may be called more than once. When it throws, nothing is
    ///   changed, and its error is thrown.
    /// - Returns: The message as it is now; `nil` if there is none.
    @discardableResult
    func update(_ msiKey: ObjectID, _ change: @escaping @Sendable (inout RelayRecord, Message) throws -> Void) async throws
        -> Message?

    /// Gives up all leases of an owner. The messages are due at once.
    func releaseLeases(of owner: String, now: UnixMilliseconds) async throws

    /// Messages that have not come to their end although they have expired, and that are not leased: the first to expire first.
    func expired(by now: UnixMilliseconds, limit: Int) async throws -> [ObjectID]

    /// Messages whose next attempt is after a moment: those that a condition is true of. Messages that cannot be read are left out.
    func waiting(
        after now: UnixMilliseconds, where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [ObjectID]

    /// Removes archived messages, the oldest first, in one step: those that were posted, and came to their end, before a
    /// moment.
    ///
    /// - Parameter limit: The most to remove.
    /// - Returns: How many were removed.
    func removeArchived(before moment: UnixMilliseconds, limit: Int) async throws -> Int

    /// Reads something small: throws where the database cannot be read.
    func check() async throws

    /// How much the messages take up, indexes and write-ahead log included, in bytes; what is free to be used again does not count.
    func size() async throws -> Int64

    /// The room on the database's disk; `nil` where that is not known.
    func diskSpace() async throws -> DiskSpace?

    /// Lets what has begun end, and closes the database; nothing may use the store afterwards.
    func close() async throws
}

extension MessageStore {
    /// The same for one who waits however long it takes.
    package func page(_ filter: MessageFilter, before cursor: PageCursor?, limit: Int) async throws -> [Message] {
        try await page(filter, before: cursor, limit: limit) {}
    }
}

/// What a claimant has room for.
package struct Claim: Hashable, Sendable {
    package var distribution: Distribution
    /// The most messages.
    package var limit: Int
    /// The most messages of one topic.
    package var maxPerTopic: Int
    /// The topics of which it has room for fewer; 0 for none at all.
    package var room: [TopicKey: Int]

    package init(_ distribution: Distribution, limit: Int, maxPerTopic: Int, room: [TopicKey: Int] = [:]) {
        self.distribution = distribution
        self.limit = limit
        self.maxPerTopic = maxPerTopic
        self.room = room
    }

    package func room(for topic: TopicKey) -> Int {
        min(limit, room[topic] ?? maxPerTopic)
    }
}
