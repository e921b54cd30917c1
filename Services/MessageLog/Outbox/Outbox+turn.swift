import CommandBus
import Logging
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit
import Synchronization
import Time

/// The turn of one item: relays it and stores its outcome.
extension Outbox {
    /// A turn begins only if its lease still lasts this long.
    private static let minLease = Milliseconds(DeliveryTimes.minLease)

    /// Relays one item and stores the outcome. Each turn is a span of the item's trace, so that its log lines can be told from those of
    /// other turns.
    ///
    /// - Parameter isLeaseCertain: Whether the lease was just taken, so that nothing can have happened to the item.
    func turn(of item: OutboxItem, isLeaseCertain: Bool = true) async {
        let work = ServiceContext.current {
            $0.name(item.key)
            $0.traceparent = Traceparent(following: item.traceparent.flatMap { Traceparent($0) })
        }
        let turn = await ServiceContext.withValue(work) { await relayAndRecord(item, isLeaseCertain: isLeaseCertain) }
        let again = state.withLock { $0.finished(turn, of: item, at: .now) }
        event.yield(again.map(Event.claimedAgain) ?? .check)
    }

    private func relayAndRecord(_ item: OutboxItem, isLeaseCertain: Bool) async -> OutboxStateMachine.Turn {
        let expires = item.expires
        let pending = item.record.pendingParts
        guard expires > .now, !pending.isEmpty, item.record.state != .held else {
            await record(item) { $0.expire(at: .now, expires: expires, owner: $1) }
            return .expired
        }
        guard let deadline = await endOfLease(of: item, isCertain: isLeaseCertain) else { return .dropped }
        do {
            let results = try await relay.relay(pending, of: item, by: deadline)
            // The outage is over only after a final outcome. A relay that tries an unreachable FCM does not end it.
            if results.contains(where: \.isFinal) { relayAnswered() }
            return await record(results, of: item)
        } catch {
            // The outbox has stopped. FCM may have the message.
            guard !Task.isCancelled else { return .dropped }
            guard let refusal = DeliveryError(refusal: error) else { return await recordFailure(error, of: item) }
            relayAnswered()
            return await record(pending.map { PartResult(part: $0, result: .failure(refusal)) }, of: item)
        }
    }

    private func relayAnswered() {
        relaying.worked()
        unreachable.withLock { $0 = nil }
    }

    /// Stores that no relay has answered for an item.
    private func recordFailure(_ failure: CommandFailure, of item: OutboxItem) async -> OutboxStateMachine.Turn {
        let expires = item.expires
        guard !failure.isOutcomeUnknown else {
            let schedule = schedule
            await record(item) {
                $0.unanswered(
                    failure.message, to: $1, at: .now, expires: expires, schedule: schedule, random: .random(in: 0...1))
            }
            return .unanswered
        }
        relaying.failed(failure)
        let error = DeliveryError.relayUnreachable(failure)
        unreachable.withLock { $0 = error }
        await record(item, reportsRetry: false) { $0.unreachable(error, to: $1, at: .now, expires: expires) }
        return .unreachable
    }

    /// Ensures that the lease is long enough for one turn, and returns its end.
    ///
    /// A turn may begin long after its claim, if the process was stopped or the database was slow. By then another process may be
    /// relaying the item, or it was recalled. So the lease is checked and renewed in the store.
    ///
    /// - Returns: `nil` if this process no longer owns the message, or the store cannot be asked. The message is claimed
    ///   again when it is due. If this process still owns it, the lease is released.
    private func endOfLease(of item: OutboxItem, isCertain: Bool) async -> UnixMilliseconds? {
        // If the rest is longer than a lease, the clock was set back, and another process may have shortened the lease.
        let lease = item.record.lease
        if isCertain, let until = lease?.until, (Self.minLease...Lease.duration).contains(until - .now) {
            return until
        }
        let renewed = self.lease(at: .now)
        do {
            let kept = try await store.update(item.key) { record, _ in
                guard lease != nil, record.lease == lease else { throw LeaseLost() }
                record.lease = renewed
                record.nextAttempt = renewed.until
            }
            return kept == nil ? nil : renewed.until
        } catch {
            logger.debug("a turn came too late", metadata: ["error": "\(error)"])
            if !(error is LeaseLost) {
                for lease in [lease, renewed].compactMap(\.self) { releaseIfStored(lease, of: .item(item.key)) }
            }
            return nil
        }
    }

    /// Another process has the item.
    private struct LeaseLost: Error {}

    private func record(_ results: [PartResult], of item: OutboxItem) async -> OutboxStateMachine.Turn {
        let schedule = schedule
        let expires = item.expires
        await record(item) { [acceptances] in
            let now = UnixMilliseconds.now
            $0.answered(results, to: $1, at: now, expires: expires, schedule: schedule, random: .random(in: 0...1))
            acceptances.note(&$0, at: now)
        }
        return results.allSatisfy(\.isFinal) ? .settled : .deferred
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
        let owner = owner
        while !Task.isCancelled {
            do {
                try await acceptances.refresh(from: store)
                let changed = try await store.change(item.key) { record, _, _ in change(&record, owner) }
                if let changed {
                    if reportsRetry || changed.item.record.nextAttempt == nil { changed.item.reportState(to: logger) }
                    announcer.announce(changed, after: item.record.state)
                }
                recording.worked(of: item.key.description)
                return
            } catch {
                recording.failed(error, of: item.key.description)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
