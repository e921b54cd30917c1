import Schemas
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
        if let decisions = history.withLock({ $0.begin(command.components, of: key, joint: SharedOutcome.init) }) {
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
        for (joint, outcome) in waiting { joint.resolve(outcome) }
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
            case .join(let joint):
                let outcome = await joint.value(by: deadline)
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
