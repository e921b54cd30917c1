import CoreMetrics
import HTTPTransport
import Instruments
import Schemas
import ServiceKit
import Synchronization

extension Project {
    /// Sends a message's components once. For a component that another command is sending it waits. For one that FCM has recently
    /// accepted it returns the stored name.
    ///
    /// - Parameter now: The wall clock.
    func send(
        _ command: RelayMessage, before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant,
        now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
        // A dry run sends nothing, and its result is never reused.
        if command.validateOnly { return await send(command.components, of: command, before: expiry, by: deadline, now: now) }
        let key = SendKey(command)
        if let decisions = history.withLock({ $0.begin(command.components, of: key, shared: SharedOutcome.init) }) {
            return await send(command, at: decisions, key, before: expiry, by: deadline, now: now)
        }
        let outcomes = await send(command.components, of: command, before: expiry, by: deadline, now: now)
        remember(outcomes, of: key, in: history)
        return outcomes
    }

    /// Whether the history has a component of this command.
    func knows(_ command: RelayMessage) -> Bool {
        !command.validateOnly && history.withLock { $0.knows(SendKey(command)) }
    }

    func remember(
        _ outcomes: [ComponentOutcome], of key: SendKey, in history: borrowing Mutex<SendHistory<SharedOutcome>>
    ) {
        let waiting = history.withLock { $0.end(outcomes, of: key, at: .now) }
        for (shared, outcome) in waiting { shared.resolve(outcome) }
    }

    /// Sends the remaining components of a repeated command.
    @inline(never)
    private func send(
        _ command: RelayMessage, at decisions: [SendHistory<SharedOutcome>.Decision], _ key: SendKey,
        before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
        let unsent = zip(command.components, decisions).compactMap { component, decision in
            if case .send = decision { component } else { nil }
        }
        var sent: [ComponentOutcome] = []
        if !unsent.isEmpty {
            sent = await send(unsent, of: command, before: expiry, by: deadline, now: now)
            remember(sent, of: key, in: history)
        }
        var outcomes: [ComponentOutcome] = []
        for (component, decision) in zip(command.components, decisions) {
            switch decision {
            case .send: outcomes += sent.filter { $0.component == component }
            case .accepted(let name): outcomes.append(ComponentOutcome(component: component, result: .success(name)))
            case .join(let shared):
                let outcome = await shared.value(by: deadline)
                outcomes.append(ComponentOutcome(component: component, result: outcome ?? .failure(.stillInFlight)))
            }
        }
        return outcomes
    }
}

extension DeliveryError {
    /// Another command with a later deadline is still sending it.
    static let stillInFlight = DeliveryError(
        .timeout, "another command with the same component is still under way; FCM may have accepted it")
}

/// A push with what its groups of recipients share.
struct PushSend: Sendable {
    let push: RelayPush
    /// The recipients of the push, which makes a new list each time.
    let recipients: [PushRecipient]
    /// One for each recipient, in their order. `nil` for a dry run: it sends nothing, and its result is never reused.
    let keys: [SendKey]?
    let isUrgent: Bool
    /// When its command arrived.
    let arrival: ContinuousClock.Instant
    /// Nothing is sent after this time.
    let expiry: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    /// The wall clock.
    let now: @Sendable () -> UnixMilliseconds
}

extension Project {
    /// The maximum number of recipients in one group. Each group waits for its turn, so a push to many phones does not
    /// delay other sends.
    static let pushGroup = 100
    /// How many groups of a push are sent or wait for their turn at once: a push to 1,000 phones takes three round trips to FCM. One
    /// group's room is left for others.
    private static let maxGroupsOfPush = maxPushRecipients / pushGroup - 1

    /// The outcome of a group.
    private struct GroupOutcome: Sendable {
        /// One for each recipient, in their order.
        var results: [Result<String, DeliveryError>]
        /// Why the group was not sent.
        var refusal: DeliveryError?
    }

    /// Sends a push to each recipient once. If another command is sending it to a recipient, this one waits for the outcome. If
    /// FCM has recently accepted it, the stored name is returned.
    ///
    /// - Returns: The outcome for each recipient, in their order.
    func send(_ send: PushSend) async -> [Result<String, DeliveryError>] {
        let all = send.recipients.indices
        guard all.count > Self.pushGroup else { return await self.send(all, of: send).results }
        let groups = stride(from: 0, to: all.count, by: Self.pushGroup).map { $0..<min($0 + Self.pushGroup, all.count) }
        var outcomes = [GroupOutcome?](repeating: nil, count: groups.count)
        await withTaskGroup(of: (index: Int, outcome: GroupOutcome).self) { tasks in
            var running = 0
            for (index, range) in groups.enumerated() {
                // After an outage the first group is the probe, and others beside it would be refused.
                let waitsForProbe = index == 1 && !messageGate.breaker.isClosed
                if waitsForProbe || running == Self.maxGroupsOfPush, let ended = await tasks.next() {
                    outcomes[ended.index] = ended.outcome
                    running -= 1
                }
                // What refuses one group refuses the later ones, too, and a withdrawn push goes to nobody else.
                let refusal = outcomes.lazy.compactMap { $0?.refusal }.first
                tasks.addTask { (index, await self.send(range, of: send, refusal: refusal)) }
                running += 1
            }
            for await ended in tasks { outcomes[ended.index] = ended.outcome }
        }
        return outcomes.flatMap { $0?.results ?? [] }
    }

    /// Whether the history has a recipient of this push.
    func knows(_ send: PushSend) -> Bool {
        guard let keys = send.keys else { return false }
        return pushHistory.withLock { history in keys.contains { history.knows($0) } }
    }

    /// The history distinguishes components. A push has none, so it is remembered as this one.
    private static let component = Component.data

    /// Sends a push to a group of its recipients once.
    ///
    /// - Parameter refusal: Why the group is not sent, if it is not. Its recipients for which FCM has accepted the push get the stored
    ///   name.
    private func send(_ range: Range<Int>, of send: PushSend, refusal: DeliveryError? = nil) async -> GroupOutcome {
        let group = Array(send.recipients[range])
        let isFirst = range.lowerBound == 0
        guard let keys = send.keys else { return await sendNow(send, to: group, isFirst: isFirst, refusal) }
        let groupKeys = keys[range]
        let decisions = pushHistory.withLock {
            $0.begin(Self.component, of: groupKeys, shared: SharedOutcome.init)
        }
        guard let decisions else {
            let outcome = await sendNow(send, to: group, isFirst: isFirst, refusal)
            remember(outcome.results, of: groupKeys)
            return outcome
        }
        return await self.send(send, to: group, at: decisions, groupKeys, isFirst: isFirst, refusal)
    }

    /// Sends the remaining recipients of a repeated push.
    private func send(
        _ send: PushSend, to group: [PushRecipient], at decisions: [SendHistory<SharedOutcome>.Decision],
        _ keys: ArraySlice<SendKey>, isFirst: Bool, _ refusal: DeliveryError?
    ) async -> GroupOutcome {
        let unsent = decisions.indices.filter { if case .send = decisions[$0] { true } else { false } }
        let sent = await sendNow(send, to: unsent.map { group[$0] }, isFirst: isFirst, refusal)
        remember(sent.results, of: unsent.map { keys[keys.startIndex + $0] })
        var outcome = GroupOutcome(results: [], refusal: sent.refusal)
        var next = sent.results.makeIterator()
        for decision in decisions {
            switch decision {
            case .send: if let result = next.next() { outcome.results.append(result) }
            case .accepted(let name): outcome.results.append(.success(name))
            case .join(let shared):
                outcome.results.append(await shared.value(by: send.deadline) ?? .failure(.stillInFlight))
            }
        }
        return outcome
    }

    private func remember(_ results: [Result<String, DeliveryError>], of keys: some Collection<SendKey>) {
        let waiting = pushHistory.withLock { $0.end(Self.component, results, of: keys, at: .now) }
        for (shared, outcome) in waiting { shared.resolve(outcome) }
    }

    /// - Parameters:
    ///   - isFirst: Whether it is the push's first group.
    ///   - refusal: Why the group is not sent, if it is not.
    private func sendNow(
        _ send: PushSend, to group: [PushRecipient], isFirst: Bool, _ refusal: DeliveryError?
    ) async -> GroupOutcome {
        guard let first = group.first else { return GroupOutcome(results: []) }
        let topic: FCMTopic? = if case .topic(let name) = first { FCMTopic(name) } else { nil }
        let end = min(send.expiry, send.deadline)
        // A group without enough time for FCM's answer might be sent twice, so it is not begun. The first one is, unless it had to wait.
        let lastTurn = send.keys == nil ? end : min(end, send.deadline - DeliveryTimes.fcmRequestTimeout)
        var error = refusal
        if error == nil {
            error = await messageGate.enter(
                for: topic, isAlert: send.isUrgent, cost: group.count, of: send.push.pushID, pushArrival: send.arrival,
                by: isFirst ? end : lastTurn, waitingUntil: lastTurn)
        }
        if let error { return GroupOutcome(results: group.map { _ in .failure(error) }, refusal: error) }
        let start = ContinuousClock.now
        let results = await sender.send(send.push, to: group, now: send.now(), before: send.expiry, by: send.deadline)
        counts.duration.record(since: start)
        let outcome = GroupOutcome(results: messageGate.leave(results, about: topic))
        messageGate.pacer.endGroup(of: send.push.pushID, cost: group.count, isAlert: send.isUrgent)
        return outcome
    }
}
