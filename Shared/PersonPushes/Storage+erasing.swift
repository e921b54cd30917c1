package import Schemas
package import Store

extension Storage {
    /// How many pushes one transaction looks at.
    private static let pageSize = 500

    /// Takes an erased person out of the pushes that wait.
    ///
    /// - Returns: How many there were of the person.
    package func forgetPushes(of account: AccountName, in queue: Collection<QueuedPush>) async throws -> Int {
        var (count, cursor): (Int, Cursor?) = (0, nil)
        repeat {
            let page = try await transaction { [cursor] transaction in
                try transaction.forgetPushes(of: account, in: queue, after: cursor, limit: Self.pageSize)
            }
            count += page.count
            cursor = page.next
        } while cursor != nil
        return count
    }
}

extension Transaction {
    /// - Returns: How many there were of the person, and where the next page begins; `nil` after the last one.
    fileprivate func forgetPushes(
        of account: AccountName, in queue: Collection<QueuedPush>, after cursor: Cursor?, limit: Int
    ) throws -> (count: Int, next: Cursor?) {
        let page = try page(of: queue, after: cursor, limit: limit)
        let own = page.documents.map(\.document).filter { $0.isFor(account) }
        var empty: [String] = []
        for push in own {
            guard let left = push.without(account) else {
                empty.append(push.id)
                continue
            }
            try update(push.id, in: queue) { $0 = left }
        }
        try delete(empty, from: queue)
        return (own.count, page.next)
    }
}
