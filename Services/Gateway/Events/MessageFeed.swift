import DequeModule
import FoundationEssentials
import Base
import Schemas

/// The gateway's copy of the message logs' latest changes. Pure.
struct MessageFeed: Sendable {
    /// A change, encoded once for all streams.
    struct Entry: Sendable {
        let topicKey: TopicKey
        /// The change as JSON on one line.
        let json: Data
    }

    /// Changes that a message log has told.
    struct Page: Sendable {
        let epoch: ObjectID
        let first: Int64
        let entries: [Entry]
        let latest: Int64

        init(_ reply: ReadMessageChanges.Reply) throws {
            epoch = reply.epoch
            first = reply.first
            entries = try reply.changes.map { Entry(topicKey: $0.topicKey, json: try JSONCoder.encode($0)) }
            latest = reply.latest
        }
    }

    /// What the open streams must be told.
    enum News: Sendable {
        case nothing
        case changes([Entry])
        /// Changes may be missing.
        case gap
    }

    /// The changes of one process of the message log.
    private struct Log: Sendable {
        let epoch: ObjectID
        /// The number of the first of ``entries``.
        var first: Int64
        var entries: Deque<Entry> = []
        /// Whether the changes before the follower's first one are still being read.
        var isLoading = true
        /// The number of the last change when another message log went away.
        var lastBeforeRemoval: Int64 = -1

        var last: Int64 { first + Int64(entries.count) - 1 }
        var position: ChangePosition { ChangePosition(epoch: epoch, number: last) }
    }

    /// The number of changes that are kept for each message log.
    private let capacity: Int
    /// By the number of the message log's reader.
    private var logs: [Int: Log] = [:]

    init(capacity: Int = 8_192) {
        self.capacity = max(1, capacity)
    }

    /// The position up to which a message log's changes are known.
    func position(of log: Int) -> ChangePosition? {
        logs[log]?.position
    }

    /// The positions of all message logs.
    var positions: [ChangePosition] { logs.values.map(\.position) }

    /// Adds what a message log has told after ``position(of:)``.
    mutating func add(_ page: Page, from number: Int) -> News {
        var log: Log
        if let known = logs[number], known.epoch == page.epoch, known.last + 1 == page.first {
            log = known
        } else {
            // Another process, or one that has forgotten changes in between.
            log = Log(epoch: page.epoch, first: page.first)
        }
        log.entries.append(contentsOf: page.entries)
        let surplus = log.entries.count - capacity
        if surplus > 0 {
            log.entries.removeFirst(surplus)
            log.first += Int64(surplus)
        }
        let isComplete = log.last >= page.latest
        let wasLoading = log.isLoading
        if isComplete { log.isLoading = false }
        logs[number] = log
        if wasLoading { return isComplete ? .gap : .nothing }
        return page.entries.isEmpty ? .nothing : .changes(page.entries)
    }

    /// A message log has gone away. Its last changes may not be known.
    mutating func remove(_ number: Int) {
        logs[number] = nil
        logs = logs.mapValues { log in
            var log = log
            log.lastBeforeRemoval = log.last
            return log
        }
    }

    /// All changes after the positions that a client knows.
    ///
    /// - Returns: `nil` if changes in between may not be known any more.
    func changes(after known: [ChangePosition]) -> [Entry]? {
        let known = Dictionary(known.map { ($0.epoch, $0.number) }, uniquingKeysWith: min)
        guard known.keys.allSatisfy({ epoch in logs.values.contains { $0.epoch == epoch } }) else { return nil }
        var missed: [Entry] = []
        for (_, log) in logs.sorted(by: { $0.key < $1.key }) {
            let number = known[log.epoch] ?? 0
            // A client that was away at the time of the removal may not know that message log's changes.
            guard !log.isLoading, number >= log.first - 1, number > log.lastBeforeRemoval else { return nil }
            // A client may know more than this gateway, which then sends it some changes again.
            missed += log.entries.dropFirst(Int(min(number, log.last) - log.first + 1))
        }
        return missed
    }
}
