import Bus
import Logging
import Archive
import Schemas
import ServiceContextModule
import ServiceKit
import Synchronization
import Base

/// Relays one claimed item and stores the outcome.
extension Outbox {
    /// Relays one item and stores the outcome. Each turn is a span of the item's trace, so that its log lines can be told from those of
    /// other turns.
    ///
    /// - Parameter isLeaseCertain: Whether the lease was just taken, so that nothing can have happened to the item.
    func turn(of item: OutboxItem, isLeaseCertain: Bool = true) async {
        let work = ServiceContext.current {
            $0.name(item.key)
            $0.traceparent = Traceparent(following: item.traceparent.flatMap { Traceparent($0) })
        }
        let end = await ServiceContext.withValue(work) { await relayAndRecord(item, isLeaseCertain: isLeaseCertain) }
        let next: Event? = state.withLock { state in
            let now = UnixMilliseconds.now
            if let again = state.finished(end.turn, in: end.others, of: item, at: now) { return .claimedAgain(again) }
            return state.wakesLoop(at: now) ? .check : nil
        }
        if let next { event.yield(next) }
    }

    /// How a turn ended.
    struct TurnEnd {
        let turn: OutboxStateMachine.Turn
        /// How it ended in queues in which it ended otherwise.
        var others: [OutboxQueue: OutboxStateMachine.Turn] = [:]
    }

    private func relayAndRecord(_ item: OutboxItem, isLeaseCertain: Bool) async -> TurnEnd {
        let expires = item.expires
        guard expires > .now, !item.record.pendingParts.isEmpty, item.record.state != .held else {
            await record(item) { [acceptances] in
                let now = UnixMilliseconds.now
                $0.expire(at: now, expires: expires, owner: $1)
                acceptances.note(&$0, at: now)
            }
            return TurnEnd(turn: .expired)
        }
        if let key = item.push?.messageKey {
            guard let isRecalled = await isRecalled(key, of: item) else { return TurnEnd(turn: .dropped) }
            if isRecalled {
                await record(item) { $0.endUnsent(at: .now, owner: $1) }
                return TurnEnd(turn: .dropped)
            }
        }
        guard let (item, deadline) = await withLease(item, isCertain: isLeaseCertain) else { return TurnEnd(turn: .dropped) }
        if case .push(let push) = item, StoredPersonPush.isMessage(push.message) {
            return await relayToPersons(item, push, until: deadline)
        }
        return await handOver(item, until: deadline)
    }

    /// Hands an item to the relays, and stores the outcome.
    ///
    /// - Parameters:
    ///   - addresses: Of a push to persons.
    ///   - deadline: Nothing may be sent after it.
    func handOver(_ item: OutboxItem, to addresses: PersonAddresses? = nil, until deadline: UnixMilliseconds) async -> TurnEnd {
        var attempts = attempts(of: item)
        let step = attempts.made.contains(.fcm) ? await fanOutStep(of: item) : .together
        if case .dataWaits = step { attempts.made.removeAll { $0 == .fcm } }
        let made = await make(attempts.made, of: item, isPopUpAlone: step.isPopUpFirst, to: addresses, by: deadline)
        // The outbox has stopped. FCM may have the message.
        guard let made else { return TurnEnd(turn: .dropped) }
        let wait = dataWait(at: step, after: made, of: item)
        if let wait { attempts.kept.append(.dataWaits(wait)) }
        await record(made + attempts.kept, of: item)
        if let wait { expectData(of: item, after: wait) }
        // Without Web Push there is one queue.
        if let only = made.first, !transports.contains(.webpush) { return TurnEnd(turn: only.turn) }
        let ends = made.map { (item.queue(of: $0.transport), $0.turn) }
        return TurnEnd(turn: .dropped, others: Dictionary(uniqueKeysWithValues: ends))
    }

    /// Whether the message of a block was recalled. It may have been while it was divided into blocks, or after an attempt of which the
    /// message log has no answer. So the block asks before each attempt.
    ///
    /// - Returns: `nil` if the store cannot be asked. The block is due again.
    private func isRecalled(_ message: ObjectID, of block: OutboxItem) async -> Bool? {
        do {
            return try await store.message(message)?.relay.state == .recalled
        } catch let failure as CommandFailure where failure.status == .conflict {
            // The message cannot be read. Its pushes were logged while it could.
            return false
        } catch {
            logger.debug("the message of a block cannot be read yet", metadata: ["error": "\(error)"])
            if let lease = block.record.lease { releaseIfStored(lease, of: .item(block.key)) }
            return nil
        }
    }

    /// The transports by which the turn of an item relays its parts, and what is known of the parts for others without an attempt.
    private func attempts(of item: OutboxItem) -> (made: [PushTransport], kept: [AttemptOutcome]) {
        let due = item.record.dueTransports(at: .now)
        // Nearly always it is one transport, and nothing is kept.
        if due == transports, due == .fcm || due == .webpush { return (due.all, []) }
        let (asked, errors) = (state.withLock { $0.askedQueues(of: item.key) }, unreachable.withLock(\.self))
        var (made, kept): ([PushTransport], [AttemptOutcome]) = ([], [])
        for transport in due.all {
            if !transports.contains(PushTransports(transport)) {
                let off = item.record.pendingParts(of: transport).map {
                    PartResult(part: $0, result: .failure(.switchedOff(transport)))
                }
                kept.append(AttemptOutcome(transport, .answered(off)))
            } else if asked.contains(OutboxQueues(item.queue(of: transport))) {
                made.append(transport)
            } else if let error = errors[transport] {
                kept.append(AttemptOutcome(transport, .unreachable(error)))
            }
        }
        return (made, kept)
    }

    /// Makes attempts by several transports at the same time.
    ///
    /// - Parameter isPopUpAlone: Whether a message's data is left out.
    /// - Returns: Their outcomes, in the order of the transports; `nil` if the outbox has stopped.
    private func make(
        _ attempts: [PushTransport], of item: OutboxItem, isPopUpAlone: Bool, to addresses: PersonAddresses?,
        by deadline: UnixMilliseconds
    ) async -> [AttemptOutcome]? {
        guard attempts.count > 1 else {
            guard let transport = attempts.first else { return [] }
            let parts = item.parts(for: transport, isPopUpAlone: isPopUpAlone)
            return await attempt(parts, of: item, to: addresses, by: transport, until: deadline).map { [$0] }
        }
        let outcomes = await withTaskGroup(of: AttemptOutcome?.self, returning: [AttemptOutcome].self) { group in
            for transport in attempts {
                let parts = item.parts(for: transport, isPopUpAlone: isPopUpAlone)
                group.addTask { await self.attempt(parts, of: item, to: addresses, by: transport, until: deadline) }
            }
            return await group.reduce(into: []) { if let outcome = $1 { $0.append(outcome) } }
        }
        guard outcomes.count == attempts.count else { return nil }
        return attempts.compactMap { transport in outcomes.first { $0.transport == transport } }
    }

    /// - Returns: `nil` if the outbox has stopped. FCM may have the message.
    private func attempt(
        _ parts: [Int], of item: OutboxItem, to addresses: PersonAddresses?, by transport: PushTransport,
        until deadline: UnixMilliseconds
    ) async -> AttemptOutcome? {
        do {
            let results = try await relay.relay(parts, of: item, to: addresses, by: transport, until: deadline)
            // The outage is over only after a final outcome. A relay that tries an unreachable FCM does not end it.
            if results.contains(where: \.isFinal) { relayAnswered(transport) }
            guard let addresses, let push = item.push else { return AttemptOutcome(transport, .answered(results)) }
            return AttemptOutcome(transport, .answered(await reportingGone(results, of: push, at: addresses)))
        } catch {
            guard !Task.isCancelled else { return nil }
            if let refusal = DeliveryError(refusal: error) {
                relayAnswered(transport)
                return AttemptOutcome(transport, .answered(parts.map { PartResult(part: $0, result: .failure(refusal)) }))
            }
            guard !error.isOutcomeUnknown else { return AttemptOutcome(transport, .unanswered(error.message)) }
            relaying[transport].failed(error)
            let failure = DeliveryError.relayUnreachable(error)
            unreachable.withLock { $0[transport] = failure }
            return AttemptOutcome(transport, .unreachable(failure))
        }
    }

    private func relayAnswered(_ transport: PushTransport) {
        relaying[transport].worked()
        unreachable.withLock { $0[transport] = nil }
    }

    func record(_ outcomes: [AttemptOutcome], of item: OutboxItem) async {
        let schedule = schedule
        let expires = item.expires
        // While FCM is unreachable, a line about each message would be too many.
        let reportsRetry = outcomes.contains { $0.turn == .deferred || $0.turn == .unanswered }
        await record(item, reportsRetry: reportsRetry) { [acceptances] in
            let now = UnixMilliseconds.now
            $0.attempted(outcomes, by: $1, at: now, expires: expires, schedule: schedule, random: .random(in: 0...1))
            acceptances.note(&$0, at: now)
        }
    }

    /// Stores the outcome of a turn. While the database is unreachable it retries: only this process knows the outcome.
    ///
    /// - Parameters:
    ///   - reportsRetry: Whether the log reports a coming retry.
    ///   - change: Takes the record and this process's name.
    private func record(
        _ item: OutboxItem, reportsRetry: Bool = true,
        _ change: @escaping @Sendable (inout any DeliveryRecord, String) -> Void
    ) async {
        var mayBeStored = false
        while !Task.isCancelled {
            do {
                try await acceptances.refresh(from: store)
                if let changed = try await settle(item, mayBeStored: mayBeStored, change) {
                    if reportsRetry || changed.item.record.nextAttempt == nil { changed.item.reportState(to: logger) }
                    announcer.announce(changed, after: item.record.state)
                }
                recording.worked(of: item.key.description)
                return
            } catch {
                recording.failed(error, of: item.key.description)
                mayBeStored = true
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Stores what a turn changes: computed from the item in memory, and written without a read if the stored record still has the item's
    /// lease. Then it is the record in memory, except for what has nothing to do with a turn, because every other change of a leased
    /// record also changes its lease:
    ///
    /// - Recalls, edits and approvals wait for the end of the lease, and remove it. So do the end of an expired item, a release and a
    ///   discard of one that was restored, and the hold of restored data.
    /// - A retry is of an item that has failed, and a removal of one that has ended; these have no lease.
    /// - A claim after the end of the lease, and a renewal, set another one. Releases of leases remove it.
    /// - After a step of the clock, a lease that is too long is shortened.
    /// - A push to persons gets their devices in its turn, with another lease. An erasure shortens it.
    /// - A process that has lost its lease stores only what was accepted, and shortens the lease of the process that works on the item
    ///   now (``DeliveryRecord/attempted(_:by:at:expires:schedule:random:)``).
    ///
    /// If the lease is another one, or the answer of an earlier write was lost, the change is made on the stored record. Each attempt
    /// computes the record again: a time in the acceptance order must be stored soon after it was taken. A record whose acceptance is
    /// stored keeps its time.
    ///
    /// - Parameter mayBeStored: Whether an earlier write of this turn has failed, so that its change may be made and not announced.
    /// - Returns: The item to announce; `nil` if it does not exist, or the turn changes nothing of it.
    private func settle(
        _ item: OutboxItem, mayBeStored: Bool, _ change: @escaping @Sendable (inout any DeliveryRecord, String) -> Void
    ) async throws -> ChangedItem? {
        let owner = owner
        if let lease = item.record.lease, lease.owner == owner {
            let changed = item.changed { record, _, _ in change(&record, owner) }
            if try await store.settle(item.key, leased: lease, changed.item.record) { return changed }
        }
        let isChanged = Mutex(false)
        let changed = try await store.change(item.key) { record, stored, _ in
            change(&record, owner)
            let changed = stored.changed { [record] stored, _, _ in stored = record }.item
            isChanged.withLock { $0 = changed != stored }
        }
        return isChanged.withLock(\.self) || mayBeStored ? changed : nil
    }
}

extension AttemptOutcome {
    /// How the turn ended for the item's queue.
    fileprivate var turn: OutboxStateMachine.Turn {
        switch kind {
        case .answered(let results): results.allSatisfy(\.isFinal) ? .settled : .deferred
        case .unreachable: .unreachable
        case .unanswered: .unanswered
        }
    }
}
