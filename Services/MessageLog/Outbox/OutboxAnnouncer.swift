import Bus
import CoreMetrics
import Instruments
import Base
import Logging
import Archive
import Schemas
import ServiceLifecycle
import Synchronization

/// Tells followers what happens to messages and pushes: an event for each push that has ended (``PushEnded``), and the changes of
/// messages' states (``MessageChanges``).
struct OutboxAnnouncer: Sendable {
    private let changes: MessageChanges
    private let publish: @Sendable (PushEnded) -> Void
    private let counters = OutboxCounters()

    init(publisher: EventPublisher, changes: MessageChanges, logger: Logger) {
        self.init(changes: changes) { event in
            do {
                publisher.publish(PushEnded.name, try JSONCoder.encode(event))
            } catch {
                logger.error("an event could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    /// - Parameter publish: Publishes the event of a push.
    init(
        changes: MessageChanges = MessageChanges(publish: { _ in }), _ publish: @escaping @Sendable (PushEnded) -> Void
    ) {
        self.changes = changes
        self.publish = publish
    }

    /// Announces an item after a change.
    ///
    /// - Parameter before: The state before; `nil` if it was certainly another one.
    func announce(_ changed: ChangedItem, after before: RelayState? = nil) {
        if case .message(let message) = changed.item, message.relay.state == before { return }
        announce(changed.item, at: changed.changed)
    }

    /// Announces a new item, or one with another state since a time.
    func announce(_ item: OutboxItem, at changed: UnixMilliseconds) {
        switch item {
        case .message(let message):
            counters.messages[message.relay.state]?.increment()
            changes.add(message, at: changed)
        case .push(let push):
            let hasEnded = push.relay.nextAttempt == nil
            (hasEnded ? counters.endedPushes : counters.pendingPushes).increment()
            guard hasEnded else { return }
            publish(PushEnded(push))
            if StoredPersonPush.isMessage(push.message) { counters.countDevices(of: push) }
        }
    }
}

/// The counters of the changes, made once: each look-up by labels would cost more than the rest of an announcement.
private struct OutboxCounters: Sendable {
    let messages = Dictionary(
        uniqueKeysWithValues: RelayState.allCases.map {
            ($0, Instrument.outboxChanges.counter(["kind": "message", "state": $0.rawValue]))
        })
    let endedPushes = Instrument.outboxChanges.counter(["kind": "push", "state": "ended"])
    let pendingPushes = Instrument.outboxChanges.counter(["kind": "push", "state": "pending"])

    /// Counts the devices of an ended push to persons.
    func countDevices(of push: Push) {
        for part in push.relay.recipients {
            let outcome = part.state == .accepted ? "ok" : part.error?.code ?? part.state.rawValue
            Instrument.personPushes.counter(["outcome": outcome]).increment()
        }
    }
}

/// The time of a change of an item.
struct ChangeTime: Sendable {
    /// The system clock. It decides what is due, leased and expired.
    let now: UnixMilliseconds
    /// The time to record: now, but after every earlier change whose time the item has. That one may have been made by a clock that
    /// is ahead of this one, of another machine or before a correction.
    let recorded: UnixMilliseconds

    init(now: UnixMilliseconds, recorded: UnixMilliseconds? = nil) {
        self.now = now
        self.recorded = recorded ?? now
    }
}

/// An item after a change, and the time of the change.
struct ChangedItem: Sendable {
    let item: OutboxItem
    let changed: UnixMilliseconds
}

extension MessageStore {
    /// Changes the record of a message or a push atomically, and determines the time of the change in the same step: what follows
    /// sees the changes of an item in their order.
    ///
    /// - Parameters:
    ///   - audit: Stored with the change of a message for the audit log.
    ///   - change: A pure function of the stored record and the time, which may be called more than once. If it throws, nothing is
    ///     changed and its error is thrown.
    /// - Returns: `nil` if the item does not exist.
    func change(
        _ key: OutboxKey, audit: MessageAudit? = nil,
        _ change: @escaping @Sendable (inout any DeliveryRecord, OutboxItem, ChangeTime) throws -> Void
    ) async throws -> ChangedItem? {
        let time = Mutex(UnixMilliseconds(rawValue: 0))
        let item = try await update(key, audit: audit) { record, item in
            let changed = item.timeOfChange(at: .now)
            try change(&record, item, changed)
            time.withLock { $0 = changed.recorded }
        }
        return item.map { ChangedItem(item: $0, changed: time.withLock(\.self)) }
    }

    /// Changes what a message says with its record, and determines the time of the change, as for a record.
    func change(
        message msiKey: ObjectID, audit: MessageAudit?,
        _ change: @escaping @Sendable (inout Message, ChangeTime) throws -> Void
    ) async throws -> ChangedItem? {
        let time = Mutex(UnixMilliseconds(rawValue: 0))
        let message = try await edit(msiKey, audit: audit) { message in
            let changed = OutboxItem.message(message).timeOfChange(at: .now)
            try change(&message, changed)
            time.withLock { $0 = changed.recorded }
        }
        return message.map { ChangedItem(item: .message($0), changed: time.withLock(\.self)) }
    }
}

extension OutboxItem {
    /// The item after a change of its record, and the time of the change, as for a change in a store.
    func changed(_ change: (inout any DeliveryRecord, OutboxItem, ChangeTime) -> Void) -> ChangedItem {
        let time = timeOfChange(at: .now)
        var changed = self
        changed.change { change(&$0, self, time) }
        return ChangedItem(item: changed, changed: time.recorded)
    }

    fileprivate func timeOfChange(at now: UnixMilliseconds) -> ChangeTime {
        let known = [message?.timestamp, record.trace?.last?.at, record.ended].compactMap(\.self)
        return ChangeTime(now: now, recorded: known.max().map { max(now, $0 + 1) })
    }
}

/// Closes the socket of the events when the service begins to stop, since the next process may start while this one is finishing.
struct EventPublishing: Service {
    let publisher: EventPublisher

    func run() async throws {
        // Thrown when the service ends by itself, and then the bus closes the socket.
        try? await gracefulShutdown()
        await publisher.close()
    }
}
