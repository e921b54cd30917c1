package import Schemas
import Synchronization

extension MessageStore {
    /// Holds everything in restored data that has not ended.
    ///
    /// - Parameter actor: Who has restored it.
    /// - Returns: How many messages and pushes are held.
    package func holdAfterRestore(by actor: String, at moment: UnixMilliseconds) async throws -> Int {
        let unfinished = try await waiting(after: -1) { _ in true }
        for key in unfinished {
            try await update(key) { $0.holdAfterRestore(by: actor, at: moment, expires: $1.expires) }
        }
        return unfinished.count
    }

    /// The messages and pushes that are held since a restore.
    package func heldByRestore() async throws -> [HeldItem] {
        // A read that the database repeats finds an item again.
        let found = Mutex<[ObjectID: HeldItem]>([:])
        _ = try await waiting(after: -1) { item in
            guard item.record.isHeldByRestore else { return false }
            let held = HeldItem(item)
            found.withLock { $0[held.key] = held }
            return true
        }
        return found.withLock { $0.values.sorted { $0.key < $1.key } }
    }
}

extension HeldItem {
    fileprivate init(_ item: OutboxItem) {
        switch item {
        case .message(let message):
            self.init(
                key: message.msiKey, kind: .message, sender: message.sender, accepted: message.timestamp, expires: message.expires,
                notBefore: message.sendAt, needsApproval: item.needsApproval ? true : nil, attempts: message.relay.attempts,
                names: message.names, title: message.title, fairnessKey: nil)
        case .push(let push):
            self.init(
                key: push.id, kind: .push, sender: push.sender, accepted: push.logged, expires: push.expires,
                notBefore: push.notBefore, needsApproval: nil, attempts: push.relay.attempts, names: nil, title: nil,
                fairnessKey: push.fairnessKey)
        }
    }
}
