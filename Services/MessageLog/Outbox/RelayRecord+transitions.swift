import Schemas

// What can happen to a message on its way to FCM, as pure changes of its relay record. A component that FCM has accepted
// stays accepted, whatever comes later: it is never sent again.

extension RelayRecord {
    /// A relay has answered.
    ///
    /// Where the lease has gone to somebody else meanwhile, only what FCM has accepted counts: the rest is theirs.
    ///
    /// - Parameters:
    ///   - outcomes: What became of the components that it was given.
    ///   - owner: Who had it relayed.
    ///   - expires: The message's deadline.
    ///   - random: Any number from 0 to 1, for the jitter.
    mutating func answered(
        _ outcomes: [ComponentOutcome], to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds,
        schedule: RetrySchedule, random: Double
    ) {
        attempts += 1
        let isOwner = lease?.owner == owner
        for outcome in outcomes {
            guard let index = components.firstIndex(where: { $0.component == outcome.component }) else { continue }
            if !isOwner, case .failure = outcome.result { continue }
            components[index].apply(outcome.result)
        }
        guard isOwner || outstanding.isEmpty else { return }
        let troubles = components.filter { $0.state == .pending }.compactMap(\.error)
        // What FCM was not asked about says nothing of how often it may be: there is no call for an ever longer wait.
        let counted = troubles.allSatisfy(\.isKeptBack) ? min(attempts, RetrySchedule.maxCountedWithoutFCM) : attempts
        let delay = schedule.delay(
            after: counted, least: troubles.compactMap(\.retryAfter).max(), within: expires - now, random: random)
        settle(at: now, expires: expires, delay: delay)
    }

    /// No relay has taken it: FCM does not have it by this attempt. It is due again at once. A component that an earlier attempt may
    /// have brought to FCM keeps saying so.
    ///
    /// - Parameter error: Why; it stays when the message expires.
    mutating func unreachable(
        _ error: ComponentError, to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds
    ) {
        guard lease?.owner == owner else { return }
        for index in components.indices
        where components[index].state == .pending && components[index].error?.code != ComponentError.relayNoAnswer {
            components[index].error = error
        }
        settle(at: now, expires: expires, delay: 0)
    }

    /// A relay has taken it, and its answer was lost. Whether FCM has the components is unknown, so they are sent again: the phone
    /// drops a second copy by its `msi_key`. A message that ends every relay that takes it waits twice as long each time.
    ///
    /// - Parameters:
    ///   - reason: What became of the answer.
    ///   - random: Any number from 0 to 1, for the jitter.
    mutating func unanswered(
        _ reason: String, to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds, schedule: RetrySchedule,
        random: Double
    ) {
        guard lease?.owner == owner else { return }
        attempts += 1
        let last = components.first { $0.state == .pending && $0.error?.code == ComponentError.relayNoAnswer }?.error?.retryAfter
        let wait = schedule.waitWithoutAnswer(after: last)
        setError(ComponentError(class: .retryable, code: ComponentError.relayNoAnswer, message: reason, retryAfter: wait))
        settle(at: now, expires: expires, delay: schedule.jittered(wait, random: random))
    }

    /// The deadline has passed before FCM has accepted every component, or there is none to relay. A message that is leased to
    /// another is left to it.
    mutating func expire(at now: UnixMilliseconds, expires: UnixMilliseconds, owner: String? = nil) {
        guard nextAttempt != nil, expires <= now || outstanding.isEmpty else { return }
        if let lease, lease.owner != owner, lease.until > now { return }
        settle(at: now, expires: expires, delay: 0)
    }

    /// Shortens a wait that is longer than any that is ever set, because the clock was set back after it was set.
    ///
    /// - Parameter sendAt: When the message was to go out at first; `nil` for at once.
    mutating func capWait(at now: UnixMilliseconds, sendAt: UnixMilliseconds?, schedule: RetrySchedule) {
        guard let nextAttempt else { return }
        if var lease {
            guard lease.until - now > Lease.duration else { return }
            lease.until = now + Lease.duration
            self.lease = lease
            self.nextAttempt = lease.until
        } else if attempts == 0 {
            self.nextAttempt = min(nextAttempt, max(now, sendAt ?? now))
        } else {
            let asked = components.filter { $0.state == .pending }.compactMap { $0.error?.retryAfter }.max()
            let longest = schedule.delay(after: attempts, least: asked, within: .max, random: 1)
            if nextAttempt - now > longest { self.nextAttempt = now + longest }
        }
    }

    /// Sets the error of every component that is still to be relayed.
    mutating func setError(_ error: ComponentError) {
        for index in components.indices where components[index].state == .pending { components[index].error = error }
    }

    /// Ends the lease, and decides where the message stands as a whole.
    ///
    /// - Parameter delay: The wait before the next attempt, in milliseconds; a relay may ask for any number of them.
    private mutating func settle(at now: UnixMilliseconds, expires: UnixMilliseconds, delay: Int64) {
        lease = nil
        if expires <= now {
            for index in components.indices where components[index].state == .pending {
                components[index].state = .expired
                components[index].error = components[index].error ?? .neverRelayed
            }
        }
        let states = components.map(\.state)
        if states.contains(.pending) {
            state = attempts > 0 ? .retrying : .pending
            // A message that cannot be tried again in time is looked at once more when it expires.
            nextAttempt = delay < expires - now ? now + delay : expires
            ended = nil
        } else {
            state =
                states.contains(.failed)
                ? .failed
                : states.contains(.recalled) ? .recalled : states.contains(.expired) ? .expired : .relayed
            nextAttempt = nil
            ended = now
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
            // That its time has passed, its state says; what kept it until then says more.
            if failure.class != .expired || error == nil { error = failure }
            switch failure.class {
            case .permanent: state = .failed
            case .expired: state = .expired
            case .retryable: state = .pending
            }
        }
    }
}
