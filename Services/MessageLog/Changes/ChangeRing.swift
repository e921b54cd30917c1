import DequeModule
import Schemas

/// The latest changes of messages, numbered from 1. When it is full, the oldest is dropped. Pure.
struct ChangeRing: Sendable {
    let epoch: ObjectID
    private let capacity: Int
    private var changes: Deque<MessageChange> = []
    /// The number of the latest change.
    private(set) var latest: Int64 = 0

    init(epoch: ObjectID, capacity: Int) {
        self.epoch = epoch
        self.capacity = max(1, capacity)
    }

    mutating func append(_ change: MessageChange) {
        if changes.count == capacity { changes.removeFirst() }
        changes.append(change)
        latest += 1
    }

    /// The reply to a reader that has everything up to a position.
    func changes(after position: ChangePosition?, limit: Int) -> ReadMessageChanges.Reply {
        let oldest = latest - Int64(changes.count) + 1
        // A reader of another process, or one that is too far behind, begins with the oldest change.
        let known = position.flatMap { $0.epoch == epoch && (oldest - 1...latest).contains($0.number) ? $0.number : nil }
        let first = known.map { $0 + 1 } ?? oldest
        let page = changes.dropFirst(Int(first - oldest)).prefix(limit)
        return ReadMessageChanges.Reply(epoch: epoch, first: first, changes: Array(page), latest: latest)
    }
}
