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
        let counted = troubles.allSatisfy(\.isKeptBack) ? min(attempts, RetrySchedule.mostCountedWithoutFCM) : attempts
        let delay = schedule.delay(
            after: counted, least: troubles.compactMap(\.retryAfter).max(), within: expires - now, random: random)
        settle(at: now, expires: expires, delay: delay)
    }

    /// No relay could be asked, or its answer was lost. Whether FCM has the components is unknown, so they are sent again:
    /// the phone drops a second copy by its `msi_key`.
    mutating func unanswered(to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds) {
        guard lease?.owner == owner else { return }
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
