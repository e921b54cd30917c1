import Base
import Bus
import CoreMetrics
import Instruments
import Logging
import Schemas
import Store
import Synchronization

/// Removes messages: those that were read, in the background, and those that others name.
///
/// Before each transaction that removes, the log of removed messages has a line for it. Each instance of the service may do all
/// of it, since what is removed is read again in the transaction that removes it.
final class MessageRemoval: Sendable {
    private let changes: MessagingChanges
    private let digests: MessageDigests
    private let log: RemovedMessages
    private let devices: EndedDevices
    private let first: @Sendable () async throws -> [ConversationDocument]
    /// When the next look at a conversation was or is due, by the last look that could read it; `nil` for none.
    private let earliest = Mutex<UnixMilliseconds?>(nil)

    static let period = Duration.seconds(1)
    private static let maxPerLook = 200
    /// They share commits.
    private static let maxAtOnce = 16
    /// When it looks again at messages for which a device is missing: the device may be inactive by then.
    private static let pause = Milliseconds.seconds(3_600)
    /// The same while the people service cannot say whether there still is such a device.
    private static let pauseWithoutPeople = Milliseconds.seconds(60)

    init(
        changes: MessagingChanges, digests: MessageDigests, log: RemovedMessages, people: CommandClient, logger: Logger
    ) {
        self.changes = changes
        self.digests = digests
        self.log = log
        devices = EndedDevices(store: changes.store, people: people, logger: logger)
        // Without a condition on the time, so that nothing is read while nothing changes.
        first = changes.store.repeatedPage(
            of: MessagingStore.conversations,
            Query(where: MessagingStore.conversationDue >= 0, order: .ascending(MessagingStore.conversationDue)), limit: 1)
    }

    /// For how long the removal of something is overdue; 0 for nothing.
    var overdue: Milliseconds { earliest.withLock(\.self).map { max(.zero, changes.now() - $0) } ?? .zero }

    // MARK: Named messages

    /// Removes the messages between two persons, who may not write to each other any more.
    ///
    /// - Parameter number: Of the last message that was there before the people service said so. By now they may be friends again,
    ///   and have written more.
    func part(_ one: AccountName, _ other: AccountName, upTo number: Int64 = .max) async throws {
        let conversation = ConversationDocument.id(of: one.key, and: other.key)
        let query = Query(
            where: MessagingStore.messageConversation == conversation, MessagingStore.messageNumber <= number,
            order: .ascending(MessagingStore.messageNumber))
        while true {
            let page = try await changes.store.page(
                of: MessagingStore.messages, query, limit: MessageBatch.maxMessages)
            guard try await remove(page.documents.map(\.document), because: .parted) > 0 else { return }
        }
    }

    /// Removes messages, with all earlier ones of their conversations to the same persons.
    ///
    /// - Returns: How many were removed.
    @discardableResult
    func remove(_ messages: [DirectMessageDocument], because reason: RemovalReason) async throws -> Int {
        try await remove(MessageBatch.all(of: messages), because: reason)
    }

    /// Removes the messages of batches, of each a part if there are many.
    ///
    /// - Returns: How many were removed.
    private func remove(_ batches: [MessageBatch], because reason: RemovalReason) async throws -> Int {
        guard !batches.isEmpty else { return 0 }
        try await note(batches)
        let count = try await changes.make(by: .program) { change in
            var count = 0
            for batch in batches {
                let messages = try change.transaction.messages(batch).documents.map(\.document)
                try change.remove(messages, because: reason)
                count += messages.count
            }
            return count
        }
        Self.count(count, reason)
        return count
    }

    /// Adds lines to the log of removed messages.
    private func note(_ batches: [MessageBatch]) async throws {
        guard !batches.isEmpty else { return }
        let digest = try await digests.digest()
        let lines = batches.map {
            RemovedMessages.Line(place: digest.place($0.conversation, to: $0.to), number: $0.upTo)
        }
        try await log.append(lines, at: changes.now())
    }

    private static func count(_ count: Int, _ reason: RemovalReason) {
        if count > 0 { Instrument.messagingRemovals.counter(["reason": reason.rawValue]).increment(by: count) }
    }

    // MARK: Read messages

    /// Removes what was read and is with all devices. The conversation that was due first is the first one.
    ///
    /// - Throws: A failure, after the others were done: it may be one document.
    func look() async throws {
        var isMore = true
        while isMore {
            let now = changes.now()
            guard let next = try await earliestDue(), next <= now else { return }
            let due = Query(where: MessagingStore.conversationDue <= now, order: .ascending(MessagingStore.conversationDue))
            let page = try await changes.store.page(of: MessagingStore.conversations, due, limit: Self.maxPerLook)
            isMore = try await look(at: page.documents.map(\.id)) || page.next != nil
        }
        _ = try await earliestDue()
    }

    private func earliestDue() async throws -> UnixMilliseconds? {
        let due = try await first().first?.due
        earliest.withLock { $0 = due }
        return due
    }

    /// - Returns: Whether more is ready in one of the conversations.
    private func look(at conversations: [String]) async throws -> Bool {
        let found = await conversations.concurrently(Self.maxAtOnce) { [self] id in
            Ready(id: id, batches: try await ready(in: id))
        }
        let removable = found.compactMap { try? $0.get() }
        try await note(removable.flatMap(\.batches))
        let rests = await removable.concurrently(Self.maxAtOnce) { [self] in try await look(at: $0.id, $0.batches) }
        for result in found { _ = try result.get() }
        return try rests.map { try $0.get() }.contains(true)
    }

    /// What can be removed of a conversation.
    private struct Ready: Sendable {
        let id: String
        let batches: [MessageBatch]
    }

    private func ready(in id: String) async throws -> [MessageBatch] {
        var read = try await readMessages(of: id)
        var isForgotten = false
        for messages in read where !messages.lagging.isEmpty {
            if await devices.forget(messages.lagging, of: messages.account) { isForgotten = true }
        }
        if isForgotten { read = try await readMessages(of: id) }
        return MessageBatch.all(of: read.flatMap(\.ready))
    }

    private func readMessages(of id: String) async throws -> [ReadMessages] {
        let now = changes.now()
        return try await changes.store.snapshot { transaction in
            guard let conversation = try transaction.get(id, from: MessagingStore.conversations)?.document else { return [] }
            return try transaction.readMessages(of: conversation, at: now)
        }
    }

    /// What a conversation has left.
    private enum Rest: Sendable {
        case nothing
        /// It waits for devices.
        case held
        case ready
    }

    /// Removes what is ready of a conversation and in the log.
    ///
    /// - Returns: Whether more is ready.
    private func look(at id: String, _ batches: [MessageBatch]) async throws -> Bool {
        let rest = try await remove(batches, of: id)
        // A device that got more beside the transaction has not seen that the conversation is not due any more.
        guard rest == .held, try await readMessages(of: id).contains(where: { !$0.ready.isEmpty }) else { return rest == .ready }
        try await changes.make(by: .program) { change in
            guard try change.transaction.get(id, from: MessagingStore.conversations) != nil else { return }
            let now = change.now
            try change.transaction.update(id, in: MessagingStore.conversations) { $0.due = now }
        }
        return true
    }

    /// Removes what is ready of a conversation and in the log, and says when it is to be looked at again.
    private func remove(_ batches: [MessageBatch], of id: String) async throws -> Rest {
        let pause = devices.cannotAsk ? Self.pauseWithoutPeople : Self.pause
        let (count, rest) = try await changes.make(by: .program) { change -> (Int, Rest) in
            guard let conversation = try change.transaction.get(id, from: MessagingStore.conversations)?.document else {
                return (0, .nothing)
            }
            var (count, rest) = (0, Rest.nothing)
            for read in try change.transaction.readMessages(of: conversation, at: change.now) {
                let upTo = batches.first { $0.to == read.account.key }?.upTo ?? 0
                let ready = read.ready.filter { $0.number <= upTo }
                try change.remove(ready, because: .read)
                count += ready.count
                // A device may have got more since the log was written.
                if read.hasMore || ready.count < read.ready.count {
                    rest = .ready
                } else if rest == .nothing, !read.lagging.isEmpty {
                    rest = .held
                }
            }
            let due: UnixMilliseconds? =
                switch rest {
                case .nothing: nil
                case .held: change.now + pause
                case .ready: change.now
                }
            try change.transaction.update(id, in: MessagingStore.conversations) { $0.due = due }
            return (count, rest)
        }
        Self.count(count, .read)
        return rest
    }
}

extension MessageBatch {
    /// What has messages and all earlier ones of the same conversation and recipient.
    static func all(of messages: [DirectMessageDocument]) -> [MessageBatch] {
        struct Place: Hashable {
            let conversation: String
            let to: String
        }
        let places = Dictionary(grouping: messages) { Place(conversation: $0.conversation, to: $0.to) }
        return places.map { place, messages in
            MessageBatch(conversation: place.conversation, to: place.to, upTo: messages.map(\.number).max() ?? 0)
        }
    }
}
