import Logging
import Schemas
package import Store

/// Moves messages with their receipts, and pushes. One that was copied earlier is updated if it was edited, or if its relay record or
/// its receipts have changed since. Otherwise it is kept.
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
        // The queue is copied with the other collections.
        try await source.audit.collect()
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
        try await target.edit(message.msiKey, audit: nil) { stored in
            if let objection = stored.objection(toBecoming: message) {
                throw MigrationFailure("another process is writing to the target: \(objection)")
            }
            stored = message
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
        if source.relay.edited != relay.edited {
            updated.content = source.content
            (updated.names, updated.expires, updated.approval) = (source.names, source.expires, source.approval)
        }
        guard updated == source else { return "message \(msiKey) is another one there" }
        guard !relay.canHaveBecome(source.relay) else { return nil }
        return
            "message \(msiKey) is \(relay.state.rawValue) there, attempts \(relay.attempts), and \(source.relay.state.rawValue) in "
            + "the source, attempts \(source.relay.attempts); a copy would revert its state"
    }
}

/// The archive with its outbox, as `msi migrate` moves it.
package struct MovableArchive: MovableStore {
    package init() {}

    package var requiredFiles: [String] { ["message-log.sqlite"] }

    package func open(_ places: MovePlaces) async throws -> any StoreMove {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        let sides = places.sides(
            sqlite: try await openMessageStore(database: nil, folder: places.folder, unreadable: .refused, logger: logger),
            mongodb: try await openMessageStore(
                database: places.url, folder: places.folder, unreadable: .refused, logger: logger))
        return ArchiveMove(source: sides.source, target: sides.target, otherTarget: places.otherTarget)
    }
}

// Decides which of two records of the same message or push is older. A copy may replace a record only by a later state. Otherwise
// a relayed message would be relayed again, and a recalled one would be sent.

extension DeliveryRecord {
    /// Whether another record can be a later state of this one. In doubt the answer is no.
    ///
    /// The time of the next attempt and the lease are ignored: they change in both directions.
    func canHaveBecome(_ later: Self) -> Bool {
        guard self != later else { return true }
        let interventions = (trace ?? [], later.trace ?? [])
        guard attempts <= later.attempts, interventions.1.starts(with: interventions.0) else { return false }
        let wasAnswered = attempts < later.attempts
        let sawIntervention = interventions.0.count < interventions.1.count
        if nextAttempt == nil, !(later.nextAttempt == nil ? wasAnswered || sawIntervention : sawIntervention) { return false }
        return parts.count == later.parts.count
            && zip(parts, later.parts).allSatisfy {
                $0.canHaveBecome($1, answered: wasAnswered, intervened: sawIntervention)
            }
    }
}

extension DeliveryPart {
    /// - Parameters:
    ///   - answered: Whether a relay has answered in between.
    ///   - intervened: Whether it was retried or recalled in between.
    fileprivate func canHaveBecome(_ later: Self, answered: Bool, intervened: Bool) -> Bool {
        guard isSamePart(as: later) else { return false }
        guard self != later else { return true }
        return switch state {
        case .accepted: false
        // A message can expire without any other event, and a block of Web Push ends with the recall of its message.
        case .pending: answered || intervened || later.state == .expired || later.state == .recalled
        // A relay's answer may come late.
        case .expired, .recalled: answered && later.state == .accepted
        case .failed: intervened || answered && later.state == .accepted
        }
    }
}

/// The pushes of other services.
extension ArchiveMove {
    func checkPushes() async throws {
        var pages = PushPages(of: target)
        while let page = try await pages.next() {
            for stored in page {
                guard let source = try await source.push(stored.id) else {
                    throw refusal("it contains push \(stored.id), which is not in the source")
                }
                if let objection = stored.objection(toBecoming: source) { throw refusal(objection) }
            }
        }
    }

    /// - Returns: How many were new in the target.
    func copyPushes() async throws -> Int {
        var pages = PushPages(of: source)
        var copied = 0
        while let page = try await pages.next() {
            for push in page where try await copy(push) { copied += 1 }
        }
        return copied
    }

    /// - Returns: Whether it was new in the target.
    private func copy(_ push: Push) async throws -> Bool {
        guard let known = try await target.insert(push) else { return true }
        guard known != push else { return false }
        guard known.id == push.id else {
            throw MigrationFailure(
                "push \(push.id) of the source has its sender's idempotency key from push \(known.id) of the target")
        }
        try await target.update(push: push.id) { record, stored in
            if let objection = stored.objection(toBecoming: push) {
                throw MigrationFailure("another process is writing to the target: \(objection)")
            }
            record = push.relay
        }
        return false
    }

    func pushDigest(of store: any MessageStore) async throws -> StoreDigest {
        var digest = StoreDigest()
        var pages = PushPages(of: store)
        while let page = try await pages.next() {
            for push in page { try digest.add(push) }
        }
        return digest
    }
}

/// All pushes, page by page, in the order of their ids.
private struct PushPages {
    private static let size = 50

    private let store: any MessageStore
    private var last: ObjectID?

    init(of store: any MessageStore) {
        self.store = store
    }

    /// - Returns: `nil` after the last page.
    mutating func next() async throws -> [Push]? {
        let page = try await store.pushes(after: last, limit: Self.size)
        last = page.last?.id ?? last
        return page.isEmpty ? nil : page
    }
}

extension Push {
    /// Why the source's push must not replace this one of the target; `nil` if it may.
    fileprivate func objection(toBecoming source: Push) -> String? {
        var updated = self
        updated.relay = source.relay
        guard updated == source else { return "push \(id) is another one there" }
        guard !relay.canHaveBecome(source.relay) else { return nil }
        return
            "push \(id) is \(relay.state.rawValue) there, attempts \(relay.attempts), and \(source.relay.state.rawValue) in the "
            + "source, attempts \(source.relay.attempts); a copy would revert its state"
    }
}
