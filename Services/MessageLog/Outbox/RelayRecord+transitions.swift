import Schemas

// What can happen to a message on its way to FCM, as pure changes of its relay record. A component that FCM has accepted
// stays accepted, whatever comes later: it is never sent again.

extension RelayRecord {
    /// The record of a message that has just been logged.
    ///
    /// - Parameter lease: The lease of whoever is about to relay it at once, if somebody is.
    init(logged distribution: Distribution, at now: UnixMilliseconds, lease: Lease?) {
        self.init(
            state: .pending, attempts: 0, nextAttempt: now, lease: lease,
            components: distribution.components.map { ComponentRecord(component: $0) })
    }

    /// The components that still have to be relayed.
    var outstanding: [Component] {
        components.filter { $0.state == .pending }.map(\.component)
    }

    /// A relay has answered.
    ///
    /// - Parameters:
    ///   - outcomes: What became of the components that it was given.
    ///   - expires: The message's deadline.
    ///   - random: Any number from 0 to 1, for the jitter.
    mutating func answered(
        _ outcomes: [ComponentOutcome], at now: UnixMilliseconds, expires: UnixMilliseconds, schedule: RetrySchedule,
        random: Double
    ) {
        attempts += 1
        for outcome in outcomes {
            guard let index = components.firstIndex(where: { $0.component == outcome.component }) else { continue }
            components[index].apply(outcome.result)
        }
        let askedFor = components.filter { $0.state == .pending }.compactMap { $0.error?.retryAfter }.max()
        settle(at: now, expires: expires, delay: schedule.delay(after: attempts, least: askedFor, random: random))
    }

    /// No relay could be asked, or its answer was lost. Whether FCM has the components is unknown, so they are sent again:
    /// the phone drops a second copy by its `msi_key`.
    mutating func unanswered(at now: UnixMilliseconds, expires: UnixMilliseconds) {
        settle(at: now, expires: expires, delay: 0)
    }

    /// Ends the lease, and decides where the message stands as a whole.
    ///
    /// - Parameter delay: The wait before the next attempt, in milliseconds; a relay may ask for any number of them.
    private mutating func settle(at now: UnixMilliseconds, expires: UnixMilliseconds, delay: Int64) {
        lease = nil
        if expires <= now {
            for index in components.indices where components[index].state == .pending {
                components[index].state = .expired
            }
        }
        let states = components.map(\.state)
        if states.contains(.pending) {
            state = attempts > 0 ? .retrying : .pending
            // A message that cannot be tried again in time is looked at once more when it expires.
            nextAttempt = delay < expires - now ? now + delay : expires
        } else {
            state = states.contains(.failed) ? .failed : states.contains(.expired) ? .expired : .relayed
            nextAttempt = nil
        }
    }
}

extension ComponentRecord {
    fileprivate mutating func apply(_ result: Result<String, ComponentError>) {
        guard state != .accepted else { return }
        switch result {
        case .success(let name):
            state = .accepted
            self.name = name
            error = nil
        case .failure(let failure):
            error = failure
            switch failure.class {
            case .permanent: state = .failed
            case .expired: state = .expired
            case .retryable: state = .pending
            }
        }
    }
}
