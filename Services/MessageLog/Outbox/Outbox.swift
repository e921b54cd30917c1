import Bus
import FoundationEssentials
import Logging
import Archive
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization
import Base

/// Hands logged messages and pushes to a relay until each has ended, and stores the outcome of every part.
///
/// The state machine decides; this shell claims, relays and stores. The lease ensures that at most one process relays an
/// item. If the process dies, its items are claimed again when their leases end, or when the same instance starts again
/// (``LeaseRecovery``). If an operation fails and its lease is stored nevertheless, the lease is released (``OrphanedLease``).
final class Outbox: Service {
    enum Event: Sendable {
        /// A new item.
        case relay(OutboxItem)
        case claimed([OutboxItem])
        /// An item from a claim whose previous turn was just ending.
        case claimedAgain(OutboxItem)
        /// An item may have become due, or there may be room again.
        case check
        /// The alarm for this time has gone off.
        case rang(UnixMilliseconds)
        /// An operation has failed, and its lease may be stored.
        case orphaned(OrphanedLease)
    }

    let store: any MessageStore
    let relay: any Relay
    /// Names the devices of persons.
    let persons: any PersonDirectory
    /// Those that are switched on.
    let transports: PushTransports
    let owner: String
    let schedule: RetrySchedule
    /// Where the loop and the turns of messages run; `nil` for Swift's shared threads.
    let executor: (any TaskExecutor)?
    let acceptances = AcceptanceClock()
    /// FCM's deliveries a second; 0 if no data waits for pop-ups.
    let fanOutRate: LiveSetting<Int>
    let fanOuts = Mutex(FanOutClock())
    let reaches: TopicReaches
    let announcer: OutboxAnnouncer
    /// The origin of the canary's messages, which get no audit entries: they would soon fill most of the log.
    private let canary: MessageOrigin?
    let logger: Logger
    let relaying: PerTransport<OutageLog>
    let claiming: OutageLog
    let recording: OutageLog
    /// Whether the people service names devices, and takes reports of those whose apps are gone.
    let asking: OutageLog
    let state: Mutex<OutboxStateMachine>
    let leaseClock = Mutex(LeaseClock(wall: .now, monotonic: .now))
    let orphanedLeases = Mutex(OrphanedLeases())
    /// Why no relay of a transport accepts messages; `nil` while one does.
    let unreachable = Mutex(PerTransport<DeliveryError?>(nil))
    let events: AsyncStream<Event>
    let event: AsyncStream<Event>.Continuation

    /// - Parameters:
    ///   - transports: Those that are switched on.
    ///   - owner: The process's unique name.
    ///   - schedule: When refused components are retried.
    ///   - canary: Where the canary's messages come from, if there is one.
    ///   - fanOutRate: FCM's deliveries a second; 0 if no data is to wait for pop-ups.
    ///   - executor: Runs the turns of messages: the bus thread, for most of a turn is a command and its reply.
    init(
        store: any MessageStore, relay: any Relay, persons: any PersonDirectory, transports: PushTransports = .fcm,
        owner: String, capacity: Int = 256, announcer: OutboxAnnouncer, schedule: RetrySchedule = RetrySchedule(),
        canary: MessageOrigin? = nil, fanOutRate: LiveSetting<Int> = LiveSetting(0), executor: (any TaskExecutor)? = nil,
        logger: Logger
    ) {
        self.store = store
        self.relay = relay
        self.persons = persons
        self.transports = transports
        self.owner = owner
        self.schedule = schedule
        self.announcer = announcer
        self.canary = canary
        self.fanOutRate = fanOutRate
        reaches = TopicReaches { topic in
            try await store.countedMessage(of: topic, now: .now, checkStillWanted: {})?.received ?? 0
        }
        self.executor = executor
        self.logger = logger
        var relaying = PerTransport(OutageLog("no relay takes messages", logger: logger))
        relaying[.webpush] = OutageLog("the Web Push service takes no messages", logger: logger)
        self.relaying = relaying
        claiming = OutageLog("due messages cannot be claimed", logger: logger)
        recording = OutageLog("outcomes cannot be stored yet", logger: logger)
        asking = OutageLog("the people service does not answer; pushes to persons wait", logger: logger)
        state = Mutex(OutboxStateMachine(capacity: capacity, transports: transports))
        (events, event) = AsyncStream.makeStream()
    }

    /// Stores a message or a push and relays it, at once if there is room.
    ///
    /// - Parameter address: The sender's network address, for the audit log.
    /// - Returns: The item that is stored under the same keys already, if there is one.
    func log(_ item: OutboxItem, from address: String? = nil) async throws -> OutboxItem? {
        let new = prepare(item, from: address)
        do {
            let known = try await store.insert(new.item, audit: new.audit)
            inserted(new, isKnown: known != nil)
            return known
        } catch {
            if let lease = new.lease {
                cancelReservation(of: new.item.key)
                releaseIfStored(lease, of: .item(new.item.key))
            }
            throw error
        }
    }

    /// An item that is about to be stored.
    private struct NewItem: Sendable {
        let item: OutboxItem
        let audit: MessageAudit?
        let time: UnixMilliseconds
        let isDue: Bool
        /// Set if room is reserved to relay it at once.
        let lease: Lease?
    }

    /// Not inlined, like ``inserted(_:isKnown:)``: with the copies of messages that their code makes, the frame of ``log(_:from:)`` had
    /// 36 KB, and each worker of the server keeps its frames.
    @inline(never)
    private func prepare(_ item: OutboxItem, from address: String?) -> NewItem {
        let now = UnixMilliseconds.now
        let recorded = item.message.flatMap { canary?.includes($0) == true ? nil : $0 }
        let audit = recorded.map { MessageAudit(.send, by: AuditAuthor(actor: $0.sender, address: address), at: now) }
        let due = item.record.firstAttempt ?? now
        let isDue = due <= now && item.record.state != .held
        var item = item
        if isDue {
            let errors = unreachable.withLock(\.self)
            for transport in transports.all {
                if let error = errors[transport] { item.change { $0.setError(error, of: transport) } }
            }
        }
        let asked = isDue ? state.withLock { $0.reserve(item) ? $0.askedQueues(of: item.key) : [] } : []
        guard !asked.isEmpty else {
            return NewItem(item: item, audit: audit, time: now, isDue: isDue, lease: nil)
        }
        let lease = lease(at: now)
        item.change { $0.takeLease(lease, for: asked) }
        return NewItem(item: item, audit: audit, time: now, isDue: isDue, lease: lease)
    }

    /// - Parameter isKnown: Whether another item is stored under the same keys, and this one is not.
    @inline(never)
    private func inserted(_ new: NewItem, isKnown: Bool) {
        if !isKnown { announcer.announce(new.item, at: max(new.time, new.item.message?.timestamp ?? new.time)) }
        if new.lease == nil {
            if new.isDue { claimSoon(for: new.item.urgency) }
        } else if isKnown {
            cancelReservation(of: new.item.key)
        } else {
            event.yield(.relay(new.item))
        }
    }

    private func cancelReservation(of key: OutboxKey) {
        let next: Event? = state.withLock { state in
            if let claimed = state.cancelReservation(of: key) { return .claimedAgain(claimed) }
            return state.wakesLoop(at: .now) ? .check : nil
        }
        if let next { event.yield(next) }
    }

    /// Relays a failed message or push again.
    ///
    /// - Parameter address: The actor's network address, for the audit log.
    /// - Returns: The changed item; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it has not failed or has expired.
    func retry(_ key: OutboxKey, by actor: String, from address: String? = nil) async throws -> OutboxItem? {
        let audit = MessageAudit(.retry, by: AuditAuthor(actor: actor, address: address))
        let retried = try await store.change(key, audit: audit) { record, item, time in
            try record.retry(by: actor, at: time, expires: item.expires)
        }
        guard let retried else { return nil }
        announcer.announce(retried)
        claimSoon(for: retried.item.urgency)
        return retried.item
    }

    /// Replaces what a message says that has not gone out, and when it goes out.
    ///
    /// - Parameter address: The actor's network address, for the audit log.
    /// - Returns: The changed message; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late, or somebody else has edited it in between.
    func edit(_ edit: EditMessage, by actor: String, from address: String? = nil) async throws -> Message? {
        let audit = MessageAudit(.edit, by: AuditAuthor(actor: actor, address: address))
        let edited: ChangedItem?
        do {
            edited = try await store.change(message: edit.msiKey, audit: audit) { try $0.edit(edit, by: actor, at: $1) }
        } catch is UnchangedMessage {
            return try await store.message(edit.msiKey)
        }
        guard let edited else { return nil }
        announcer.announce(edited)
        if edited.item.record.state != .held, let due = edited.item.record.firstAttempt, due <= .now {
            claimSoon(for: edited.item.urgency)
        }
        return edited.item.message
    }

    /// Lets a held message go out.
    ///
    /// - Parameters:
    ///   - seen: The time of the last edit that the actor has seen; 0 for none.
    ///   - address: The actor's network address, for the audit log.
    /// - Returns: The changed message; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `forbidden` for its sender and for those who have edited it, and `conflict` if it is not
    ///   held, or was edited since.
    func approve(
        _ msiKey: ObjectID, by actor: String, seen: UnixMilliseconds = 0, from address: String? = nil
    ) async throws -> Message? {
        let audit = MessageAudit(.approve, by: AuditAuthor(actor: actor, address: address))
        let approved = try await store.change(.message(msiKey), audit: audit) { record, item, time in
            guard let message = item.message else { return }
            try record.approve(
                by: actor, of: message.sender, at: time, notBefore: message.notBefore(at: time.now), expires: message.expires,
                seen: seen)
        }
        guard let approved else { return nil }
        announcer.announce(approved)
        if let due = approved.item.record.firstAttempt, due <= .now { claimSoon(for: approved.item.urgency) }
        return approved.item.message
    }

    /// Recalls a message or a push that has not gone out, or that waits in a relay for FCM's quota.
    ///
    /// - Parameters:
    ///   - reason: Why, for the trace.
    ///   - address: The actor's network address, for the audit log.
    /// - Returns: The changed item; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
    func recall(
        _ key: OutboxKey, by actor: String, reason: String? = nil, from address: String? = nil
    ) async throws -> OutboxItem? {
        do {
            return try await recallUnleased(key, by: actor, reason, from: address)
        } catch let failure as CommandFailure where failure == .onItsWay {
            guard await relay.withdraw(key.id) else { throw failure }
        }
        // The process with the lease stores the relay's answer in a moment.
        let end = ContinuousClock.now + Self.withdrawnTimeout
        while true {
            do {
                return try await recallUnleased(key, by: actor, reason, from: address)
            } catch let failure as CommandFailure where failure == .onItsWay && ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// The wait for the answer of a relay that has withdrawn an item.
    private static let withdrawnTimeout = Duration.seconds(2)

    private func recallUnleased(
        _ key: OutboxKey, by actor: String, _ reason: String?, from address: String?
    ) async throws -> OutboxItem? {
        let audit = MessageAudit(.recall, by: AuditAuthor(actor: actor, address: address), reason: reason)
        let recalled = try await store.change(key, audit: audit) { record, _, time in
            try record.recall(by: actor, at: time, reason: reason)
        }
        if let recalled { announcer.announce(recalled) }
        return recalled?.item
    }

    /// Lets a message or a push that was restored from a backup go out.
    ///
    /// - Parameter address: The actor's network address, for the audit log.
    /// - Returns: The changed item; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is not held since a restore, or has expired.
    func release(_ key: OutboxKey, by actor: String, from address: String? = nil) async throws -> OutboxItem? {
        let audit = MessageAudit(.release, by: AuditAuthor(actor: actor, address: address))
        let released = try await store.change(key, audit: audit) { record, item, time in
            try record.release(
                by: actor, at: time, notBefore: item.notBefore(at: time.now), needsApproval: item.needsApproval,
                expires: item.expires)
        }
        guard let released else { return nil }
        announcer.announce(released)
        if released.item.record.state != .held, let due = released.item.record.firstAttempt, due <= .now {
            claimSoon(for: released.item.urgency)
        }
        return released.item
    }

    /// Withdraws a message or a push that was restored from a backup.
    ///
    /// - Parameter address: The actor's network address, for the audit log.
    /// - Returns: The changed item; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is not held since a restore.
    func discard(_ key: OutboxKey, by actor: String, from address: String? = nil) async throws -> OutboxItem? {
        let audit = MessageAudit(.recall, by: AuditAuthor(actor: actor, address: address))
        let discarded = try await store.change(key, audit: audit) { record, _, time in try record.discard(by: actor, at: time) }
        if let discarded { announcer.announce(discarded) }
        return discarded?.item
    }

    func claimSoon(for urgency: Urgency) {
        let wakesLoop = state.withLock { state in
            let now = UnixMilliseconds.now
            state.becameDue(urgency, at: now)
            return state.wakesLoop(at: now)
        }
        if wakesLoop { event.yield(.check) }
    }

    func lease(at now: UnixMilliseconds) -> Lease {
        Lease(owner: owner, until: now + Lease.duration)
    }
}

extension MessageStore {
    /// Stores an item durably, unless it is stored already.
    ///
    /// - Parameter audit: Stored with a message for the audit log.
    /// - Returns: The item that is stored under the same keys already, if there is one.
    fileprivate func insert(_ item: OutboxItem, audit: MessageAudit?) async throws -> OutboxItem? {
        switch item {
        case .message(let message): try await insert(message, audit: audit).map(OutboxItem.message)
        case .push(let push): try await insert(push).map(OutboxItem.push)
        }
    }
}
