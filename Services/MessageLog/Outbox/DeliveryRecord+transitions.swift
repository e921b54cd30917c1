import Schemas
import Base

// The events on the way of a message or a push to FCM, as pure changes of its record. A part that FCM has accepted stays accepted,
// and is never sent again.

extension DeliveryRecord {
    /// A relay has answered.
    ///
    /// If another process has the lease by now, or none has, only newly accepted components are stored. The rest is left to that process.
    /// Its lease becomes a little shorter, so that it does not store the record that it has read before.
    ///
    /// - Parameters:
    ///   - results: The outcomes of the relayed parts.
    ///   - owner: The process that had it relayed.
    ///   - expires: The expiry of the message or push.
    ///   - random: A number from 0 to 1 for the jitter.
    mutating func answered(
        _ results: [PartResult], to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds,
        schedule: RetrySchedule, random: Double
    ) {
        let isOwner = lease?.owner == owner
        guard isOwner || results.contains(where: { $0.isAccepted && parts[$0.part].state != .accepted }) else { return }
        // Without a lease an earlier write of this turn, whose answer was lost, has counted the attempt. Another program may have stored
        // any number.
        if lease != nil, attempts < .max { attempts += 1 }
        for result in results {
            if !isOwner, case .failure = result.result { continue }
            parts[result.part].apply(result.result, at: now)
        }
        guard isOwner || pendingParts.isEmpty else {
            if let until = lease?.until, nextAttempt != nil {
                lease?.until = until - 1
                nextAttempt = until - 1
            }
            return
        }
        let troubles = parts.compactMap { $0.state == .pending ? $0.error : nil }
        // Attempts that did not reach FCM do not count fully, since they are no reason for an ever longer wait.
        let counted = troubles.allSatisfy { $0.isKeptBack } ? min(attempts, RetrySchedule.maxCountedWithoutFCM) : attempts
        let delay = schedule.delay(
            after: counted, asked: troubles.compactMap { $0.retryAfter }.max(), within: expires - now, random: random)
        settle(at: now, expires: expires, delay: delay)
    }

    /// No relay has accepted it, so this attempt has not reached FCM. It is due again at once. If an earlier attempt may have
    /// reached FCM, the part's error still says so.
    ///
    /// - Parameter error: The reason, which is kept if the message expires.
    mutating func unreachable(
        _ error: DeliveryError, to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds
    ) {
        guard lease?.owner == owner else { return }
        for index in parts.indices
        where parts[index].state == .pending && parts[index].error?.code != RelayErrorCode.relayNoAnswer.rawValue {
            parts[index].error = error
        }
        settle(at: now, expires: expires, delay: 0)
    }

    /// A relay has accepted it, and its answer was lost. It is unknown whether FCM has the parts, so they are sent again.
    /// The phone drops a message's second copy by its `msi_key`. The wait doubles each time, in case the item itself
    /// crashes the relays.
    ///
    /// - Parameters:
    ///   - reason: Why there is no answer.
    ///   - random: A number from 0 to 1 for the jitter.
    mutating func unanswered(
        _ reason: String, to owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds, schedule: RetrySchedule,
        random: Double
    ) {
        guard lease?.owner == owner else { return }
        // Another program may have stored any number.
        attempts += attempts < .max ? 1 : 0
        let last = parts.first { $0.state == .pending && $0.error?.code == RelayErrorCode.relayNoAnswer.rawValue }?.error?
            .retryAfter
        let wait = schedule.waitWithoutAnswer(after: last)
        setError(DeliveryError(.relayNoAnswer, reason, retryAfter: wait))
        settle(at: now, expires: expires, delay: schedule.jittered(wait, random: random))
    }

    /// It has expired before FCM has accepted every part, or has no part to relay, or is held. An item that another process has
    /// leased is left to it.
    mutating func expire(at now: UnixMilliseconds, expires: UnixMilliseconds, owner: String? = nil) {
        guard nextAttempt != nil, expires <= now || pendingParts.isEmpty || state == .held else { return }
        if let lease, lease.owner != owner, lease.until > now { return }
        settle(at: now, expires: expires, delay: 0)
    }

    /// Shortens a wait that is longer than any possible wait because the clock was set back.
    ///
    /// - Parameter notBefore: The scheduled time; `nil` for at once.
    mutating func capWait(at now: UnixMilliseconds, notBefore: UnixMilliseconds?, schedule: RetrySchedule) {
        guard let nextAttempt else { return }
        if var lease {
            guard lease.until - now > Lease.maxRest else { return }
            lease.until = now + Lease.duration
            self.lease = lease
            self.nextAttempt = lease.until
        } else if state == .held {
            // It is due when it expires.
        } else if attempts == 0 {
            self.nextAttempt = min(nextAttempt, max(now, notBefore ?? now))
        } else {
            let asked = parts.filter { $0.state == .pending }.compactMap { $0.error?.retryAfter }.max()
            let longest = schedule.delay(after: attempts, asked: asked, within: .max, random: 1)
            if nextAttempt - now > longest { self.nextAttempt = now + longest }
        }
    }

    /// Sets the error of every part that is still to be relayed.
    mutating func setError(_ error: DeliveryError) {
        for index in parts.indices where parts[index].state == .pending { parts[index].error = error }
    }

    /// Ends the lease, and derives the state from the parts.
    ///
    /// - Parameter delay: The wait before the next attempt. A relay may ask for any number.
    private mutating func settle(at now: UnixMilliseconds, expires: UnixMilliseconds, delay: Milliseconds) {
        lease = nil
        if expires <= now {
            let reason: DeliveryError = isHeldByRestore ? .neverReleased : state == .held ? .neverApproved : .neverRelayed
            for index in parts.indices where parts[index].state == .pending {
                parts[index].state = .expired
                parts[index].error = parts[index].error ?? reason
            }
        }
        let states = parts.map { $0.state }
        if states.contains(.pending), state == .held {
            nextAttempt = expires
        } else if states.contains(.pending) {
            state = attempts > 0 ? .retrying : .pending
            // If there is no time for another attempt, the message is due again at its expiry.
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

extension PartResult {
    fileprivate var isAccepted: Bool {
        if case .success = result { true } else { false }
    }
}

extension DeliveryPart {
    fileprivate mutating func apply(_ result: Result<String, DeliveryError>, at now: UnixMilliseconds) {
        guard state != .accepted else { return }
        switch result {
        case .success(let name):
            state = .accepted
            self.name = name
            acceptedAt = now
            error = nil
        case .failure(let failure):
            // The state says that it has expired, so the earlier error, which says why, is kept.
            if failure.class != .expired || error == nil { error = failure }
            switch failure.class {
            case .permanent: state = .failed
            case .expired: state = .expired
            case .retryable: state = .pending
            }
        }
    }
}
