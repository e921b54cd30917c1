import Schemas

/// Where messages are archived, and with them how far each has come on its way to FCM (the seed's Message DAO).
///
/// Every method throws ``CommandFailure`` with status `unavailable` when the database is away.
protocol MessageStore: Sendable {
    /// Stores a message durably, unless its `msi_key`, or its sender's idempotency key, is stored already.
    ///
    /// - Returns: The stored message when there was one, and then nothing was changed; `nil` when this one was stored.
    func insert(_ message: Message) async throws -> Message?

    func message(_ msiKey: ObjectID) async throws -> Message?

    /// The message that a sender posted with an idempotency key.
    func message(of sender: String, idempotencyKey: String) async throws -> Message?

    /// One page of the archive, newest first: by timestamp, then by `msi_key`.
    func page(before: PageCursor?, limit: Int) async throws -> [Message]

    /// Takes the messages whose next attempt is due and that nobody holds a valid lease on, longest due first, and leases
    /// them, all in one step: of several claimants only one gets a message.
    ///
    /// - Parameter now: Unix milliseconds.
    func claim(_ lease: Lease, limit: Int, now: UnixMilliseconds) async throws -> [Message]

    /// Changes a message's relay record in one step: nothing that others write meanwhile is lost.
    ///
    /// - Parameter change: A pure function of the stored record; it may be called more than once.
    /// - Returns: The message as it is now; `nil` if there is none.
    @discardableResult
    func update(_ msiKey: ObjectID, _ change: @escaping @Sendable (inout RelayRecord) -> Void) async throws -> Message?

    /// Gives up every lease of an owner: at its start, those that it held when it was killed; at its end, what it did not
    /// finish.
    func releaseLeases(of owner: String) async throws
}
