import Schemas
package import Storage

/// Moves messages with their receipts, and pushes. Those that are copied already are kept, or updated if their relay record or their
/// receipts have changed meanwhile.
package struct ArchiveMove: StoreMove {
    let source: any MessageStore
    let target: any MessageStore
    let otherTarget: String

    /// The number of messages between two reports.
    private static let reportEvery = 10_000

    package init(source: any MessageStore, target: any MessageStore, otherTarget: String) {
        self.source = source
        self.target = target
        self.otherTarget = otherTarget
    }

    package func checkTarget() async throws {
        var pages = MessagePages(of: target)
        while let page = try await pages.next() {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for message in page { group.addTask { try await check(message) } }
                try await group.waitForAll()
            }
            try await checkReceipts(of: page)
        }
        try await checkPushes()
    }

    /// Phones have not reported to the target since the last copy.
    private func checkReceipts(of page: [Message]) async throws {
        let keys = page.map(\.msiKey)
        let (stored, source) = try await (target.receipts(of: keys), self.source.receipts(of: keys))
        for (key, receipts) in stored {
            let later = source[key] ?? MessageReceipts(received: 0, opened: 0)
            guard receipts.received <= later.received, receipts.opened <= later.opened else {
                throw refusal("more phones have reported message \(key) there than in the source")
            }
        }
    }

    private func check(_ stored: Message) async throws {
        guard let source = try await source.message(stored.msiKey) else {
            throw refusal("it contains message \(stored.msiKey), which is not in the source")
        }
        if let objection = stored.objection(toBecoming: source) { throw refusal(objection) }
    }

    func refusal(_ reason: String) -> MigrationFailure { .otherContents(reason, otherTarget: otherTarget) }

    package func copy(report: (String) -> Void) async throws {
        var pages = MessagePages(of: source)
        var (read, copied) = (0, 0)
        while let page = try await pages.next() {
            copied += try await withThrowingTaskGroup(of: Bool.self) { group in
                for message in page {
                    group.addTask { try await copy(message) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            try await target.set(try await source.receipts(of: page.map(\.msiKey)))
            read += page.count
            if read % Self.reportEvery < page.count { report("messages: \(read) read, \(copied) copied") }
        }
        // What the audit log acknowledges a second time changes nothing.
        try await target.addPendingAudit(of: source)
        let pushes = try await copyPushes()
        report("messages: \(copied) copied now, pushes: \(pushes); comparing both sides")
    }

    /// - Returns: Whether it was new in the target.
    private func copy(_ message: Message) async throws -> Bool {
        guard let known = try await target.insert(message) else { return true }
        guard known != message else { return false }
        guard known.msiKey == message.msiKey else {
            throw MigrationFailure(
                "message \(message.msiKey) of the source has its sender's idempotency key from message \(known.msiKey) of the target"
            )
        }
        guard known.id == message.id else {
            throw MigrationFailure(
                "the source has two messages with the msi_key \(message.msiKey), _id \(known.id) and \(message.id); remove one of them"
            )
        }
        try await target.update(message.msiKey) { record, stored in
            if let objection = stored.objection(toBecoming: message) {
                throw MigrationFailure("another process is writing to the target: \(objection)")
            }
            record = message.relay
        }
        return false
    }

    package func compare() async throws -> [StoreComparison] {
        [
            StoreComparison(
                "messages", of: "messages", source: try await digest(of: source), target: try await digest(of: target)),
            StoreComparison(
                "pushes", of: "pushes", source: try await pushDigest(of: source), target: try await pushDigest(of: target)),
        ]
    }

    package func close() async throws {
        try await source.close()
        try await target.close()
    }

    private func digest(of store: any MessageStore) async throws -> StoreDigest {
        var digest = StoreDigest()
        var pages = MessagePages(of: store)
        while let page = try await pages.next() {
            for message in try await store.withReceipts(page) { try digest.add(message) }
        }
        return digest
    }
}

/// The whole archive, page by page, from the newest message to the oldest.
struct MessagePages {
    private static let size = 200

    private let store: any MessageStore
    private var cursor: PageCursor?

    init(of store: any MessageStore) {
        self.store = store
    }

    /// - Returns: `nil` after the last page.
    mutating func next() async throws -> [Message]? {
        let page = try await store.page(MessageFilter(), before: cursor, limit: Self.size)
        cursor = page.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
        return page.isEmpty ? nil : page
    }
}

extension Message {
    /// Why the source's message must not replace this one of the target; `nil` if it may.
    func objection(toBecoming source: Message) -> String? {
        var updated = self
        updated.relay = source.relay
        guard updated == source else { return "message \(msiKey) is another one there" }
        var relay = relay
        // A message of a former version gets its place later, without any other change.
        relay.accepted = relay.accepted ?? source.relay.accepted
        guard !relay.canHaveBecome(source.relay) else { return nil }
        return
            "message \(msiKey) is \(relay.state.rawValue) there, attempts \(relay.attempts), and \(source.relay.state.rawValue) in "
            + "the source, attempts \(source.relay.attempts); a copy would revert its state"
    }
}
