import FoundationEssentials
import Logging
import Archive
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization
import Base

/// The loop: asks the state machine what to do, claims due items, and starts their turns.
extension Outbox {
    func run() async throws {
        let isComplete = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await withTaskExecutorPreference(self.executor) { await self.relayWhatIsDue() }
                return !Task.isCancelled
            }
            group.addTask {
                // This throws only if the outbox has ended by itself.
                try? await gracefulShutdown()
                self.event.finish()
                try? await Task.sleep(for: DeliveryTimes.outboxStopTimeout)
                return false
            }
            group.addTask {
                await self.watchClock()
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        // FCM may have messages without an outcome, so their leases are not released but end by themselves.
        guard isComplete else {
            let count = state.withLock { $0.keysInFlight.count }
            return logger.warning("stopped before some outcomes were stored", metadata: ["items": "\(count)"])
        }
        do {
            try await store.releaseLeases(of: owner, now: .now)
        } catch {
            // The leases end by themselves, or the instance's next process releases them.
            logger.warning("the leases cannot be released", metadata: ["error": "\(error)"])
        }
    }

    /// Performs the state machine's actions until the events end. Returns when every turn has ended.
    private func relayWhatIsDue() async {
        await withDiscardingTaskGroup { turns in
            var alarm = Alarm<UnixMilliseconds>()
            event.yield(.check)
            for await event in events {
                switch event {
                case .relay(let item):
                    startTurn(of: item, in: &turns)
                    // It had room, so no claim can begin sooner than the loop knows.
                    continue
                case .claimed(let items):
                    for item in items { startTurn(of: item, in: &turns) }
                case .claimedAgain(let item): startTurn(of: item, isLeaseCertain: false, in: &turns)
                case .check: break
                case .rang(let moment): alarm.rang(moment)
                case .orphaned(let lease):
                    if orphanedLeases.withLock({ $0.add(lease) }) { turns.addTask { await self.releaseOrphanedLeases() } }
                }
                // Ask until the answer is to wait. Claim and alarm come from the same call: with two calls, a message that
                // becomes due in between would be missed by both.
                while case .claim(let claim) = begin(&alarm) {
                    // On a separate task: turns that need no claim must not wait for a slow claim.
                    turns.addTask(executorPreference: globalConcurrentExecutor) {
                        self.event.yield(.claimed(await self.items(for: claim)))
                    }
                }
            }
        }
    }

    /// Begins the turn of an item.
    ///
    /// - Parameter isLeaseCertain: Whether the item was just leased.
    private func startTurn(of item: OutboxItem, isLeaseCertain: Bool = true, in turns: inout DiscardingTaskGroup) {
        switch item {
        // At once, on the loop's own thread until the command is on its way: another task would have to be scheduled first.
        case .message: turns.addImmediateTask { await self.turn(of: item, isLeaseCertain: isLeaseCertain) }
        // The command of a push to many phones takes milliseconds to encode, in which the bus would wait.
        case .push:
            turns.addTask(executorPreference: globalConcurrentExecutor) {
                await self.turn(of: item, isLeaseCertain: isLeaseCertain)
            }
        }
    }

    private func begin(_ alarm: inout Alarm<UnixMilliseconds>) -> OutboxStateMachine.Action {
        let now = UnixMilliseconds.now
        let action = state.withLock { $0.begin(at: now) }
        if case .wait(let moment) = action, alarm.set(for: moment) {
            Task {
                try await Task.sleep(for: Duration(max(0, moment - now)))
                self.event.yield(.rang(moment))
            }
        }
        return action
    }

    private func items(for claim: Claim) async -> [OutboxItem] {
        let now = UnixMilliseconds.now
        let lease = lease(at: now)
        do {
            let leaseTime = timeOfLeases()
            try await makeUnleasedItemsDue(at: now, by: leaseTime)
            let items = try await store.claim(claim, lease: lease, now: leaseTime)
            claiming.worked(of: claim.urgency.rawValue)
            return state.withLock { $0.claimed(items, for: claim, at: .now) }
        } catch {
            let part = error as? PartialClaim
            claiming.failed(part?.cause ?? error, of: claim.urgency.rawValue)
            // In the same millisecond, the next claim could get the same lease.
            let isLeaseUnique = now < .now
            let items = state.withLock { state in
                if let part { return state.claimed(part.items, for: claim, at: .now) }
                state.claimFailed(claim, at: .now)
                return []
            }
            if isLeaseUnique { releaseIfStored(lease, of: .claim(claim.urgency)) }
            return items
        }
    }
}
