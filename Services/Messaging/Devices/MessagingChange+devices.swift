import Base
import Schemas
import Store

extension MessagingDeviceDocument {
    /// How exactly ``seen`` is kept.
    private static let seenPeriod = Milliseconds.seconds(3_600)

    /// Whether the device is to be stored as one that asks now.
    func isOutdated(at now: UnixMilliseconds) -> Bool { now - seen >= Self.seenPeriod }
}

extension MessagingChange {
    /// Writes that a device takes part in messages: from its first fetch on, those that it does not have wait for it.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` if the person was erased; `not_found` for the device of somebody else.
    func keepDevice(_ id: ObjectID, of account: AccountName) throws -> MessagingDeviceDocument {
        guard let device = try transaction.get(id, from: MessagingStore.devices)?.document else {
            try transaction.requireNotErased(account)
            // An erasure of the person then conflicts with it, and leaves no device.
            _ = try nextPosition(of: account)
            let new = MessagingDeviceDocument(id: id, account: account.key, received: 0, seen: now)
            return try transaction.insert(new, into: MessagingStore.devices).document
        }
        guard device.account == account.key else { throw CommandFailure(.notFound, "no device \(id)") }
        guard device.isOutdated(at: now) else { return device }
        return try transaction.update(id, in: MessagingStore.devices) { $0.seen = now }.document
    }
}
