package import Schemas
import Synchronization

extension MessageStore {
    /// Holds everything in restored data that has not ended.
    ///
    /// - Parameters:
    ///   - actor: Who has restored it.
    ///   - progress: Gets the number of items that are held so far, and that of all.
    /// - Returns: How many messages and pushes are held.
    package func holdAfterRestore(
        by actor: String, at moment: UnixMilliseconds, progress: (Int, Int) -> Void = { _, _ in }
    ) async throws -> Int {
        let unfinished = try await waiting(after: -1) { _ in true }
        for start in stride(from: 0, to: unfinished.count, by: maxHeldAtOnce) {
            progress(start, unfinished.count)
            // SQLite stores simultaneous changes in one commit.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in unfinished[start..<min(start + maxHeldAtOnce, unfinished.count)] {
                    group.addTask {
                        try await update(key) { $0.holdAfterRestore(by: actor, at: moment, expires: $1.expires) }
                    }
                }
                try await group.waitForAll()
            }
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

/// How many items are changed at the same time.
private let maxHeldAtOnce = 200

extension HeldItem {
    fileprivate init(_ item: OutboxItem) {
        switch item {
        case .message(let message):
            self.init(
                key: message.msiKey, kind: .message, sender: message.sender, accepted: message.timestamp,
                expires: message.expires,
                notBefore: message.notBefore(at: .now), needsApproval: item.needsApproval ? true : nil,
                attempts: message.relay.attempts,
                names: message.names, title: message.title, fairnessKey: nil)
        case .push(let push):
            self.init(
                key: push.id, kind: .push, sender: push.sender, accepted: push.logged, expires: push.expires,
                notBefore: push.notBefore, needsApproval: nil, attempts: push.relay.attempts, names: nil, title: nil,
                fairnessKey: push.fairnessKey)
        }
    }
}
