import Schemas
import Base

// The events on the way of a message or a push to FCM and to the push services, as pure changes of its record. A part that was accepted
// stays accepted, and is never sent again.

extension DeliveryRecord {
    /// A turn has ended.
    ///
    /// If another process has the lease by now, or none has, only newly accepted components are stored. The rest is left to that process.
    /// Its lease becomes a little shorter, so that it does not store the record that it has read before.
    ///
    /// - Parameters:
    ///   - outcomes: What came of the attempts by each transport. The parts for the others stay as they are.
    ///   - owner: The process that made the attempts.
    ///   - expires: The expiry of the message or push.
    ///   - random: A number from 0 to 1 for the jitter.
    mutating func attempted(
        _ outcomes: [AttemptOutcome], by owner: String, at now: UnixMilliseconds, expires: UnixMilliseconds,
        schedule: RetrySchedule, random: Double
    ) {
        let isOwner = lease?.owner == owner
        let results = outcomes.flatMap(\.results)
        guard isOwner || results.contains(where: { $0.isAccepted && parts[$0.part].state != .accepted }) else { return }
        // Without a lease an earlier write of this turn, whose answer was lost, has counted the attempt. Another program may have stored
        // any number.
        if lease != nil, outcomes.contains(where: \.wasTaken), attempts < .max { attempts += 1 }
        for result in results {
            if !isOwner, case .failure = result.result { continue }
            parts[result.part].apply(result.result, at: now)
        }
        guard isOwner || pendingParts.isEmpty else { return shortenLease() }
        var delays = PerTransport<Milliseconds?>(nil)
        for outcome in outcomes {
            delays[outcome.transport] = delay(after: outcome, within: expires - now, schedule: schedule, random: random)
        }
        settle(at: now, expires: expires, delays: delays)
    }

    /// The process with the lease then does not store the record that it has read before.
    mutating func shortenLease() {
        guard let lease, nextAttempt != nil else { return }
        extendLease(to: Lease(owner: lease.owner, until: lease.until - 1))
    }

    /// Notes the errors of an attempt that was not answered.
    ///
    /// - Returns: The wait before the next attempt by the transport.
    private mutating func delay(
        after outcome: AttemptOutcome, within remaining: Milliseconds, schedule: RetrySchedule, random: Double
    ) -> Milliseconds {
        let pending = pendingParts(of: outcome.transport)
        switch outcome.kind {
        case .answered:
            let troubles = pending.compactMap { parts[$0].error }
            // Attempts that did not reach FCM do not count fully, since they are no reason for an ever longer wait. Nor do those after which
            // only the report of a device's end is missing.
            let isUncounted = troubles.allSatisfy { $0.isKeptBack || $0.isUnregistered }
            let counted = isUncounted ? min(attempts, RetrySchedule.maxCountedWithoutFCM) : attempts
            return schedule.delay(
                after: counted, asked: troubles.compactMap { $0.retryAfter }.max(), within: remaining, random: random)
        case .unreachable(let error):
            // If an earlier attempt may have reached FCM, the part's error still says so.
            for index in pending where parts[index].error?.code != RelayErrorCode.relayNoAnswer.rawValue {
                parts[index].error = error
            }
            return error.retryAfter ?? 0
        case .unanswered(let reason):
            let last = pending.compactMap { parts[$0].error }.first { $0.code == RelayErrorCode.relayNoAnswer.rawValue }
            let wait = schedule.waitWithoutAnswer(after: last?.retryAfter)
            setError(DeliveryError(.relayNoAnswer, reason, retryAfter: wait), of: outcome.transport)
            return schedule.jittered(wait, random: random)
        }
    }

    /// It has expired before FCM has accepted every part, or has no part to relay, or is held. An item that another process has
    /// leased is left to it.
    mutating func expire(at now: UnixMilliseconds, expires: UnixMilliseconds, owner: String? = nil) {
        guard nextAttempt != nil, expires <= now || pendingParts.isEmpty || state == .held else { return }
        if let lease, lease.owner != owner, lease.until > now { return }
        settle(at: now, expires: expires, delays: PerTransport(0))
    }

    /// The message of this block was recalled: what has not been sent is not sent any more.
    ///
    /// - Parameter owner: The process of the turn. Without its lease it changes nothing.
    mutating func endUnsent(at now: UnixMilliseconds, owner: String) {
        guard lease?.owner == owner else { return }
        for index in parts.indices where parts[index].state == .pending { parts[index].state = .recalled }
        (lease, nextAttempt, webpushAttempt) = (nil, nil, nil)
        state = .recalled
        ended = now
    }

    /// Shortens a wait that is longer than any possible wait because the clock was set back.
    ///
    /// - Parameter notBefore: The scheduled time; `nil` for at once.
    mutating func capWait(at now: UnixMilliseconds, notBefore: UnixMilliseconds?, schedule: RetrySchedule) {
        guard let nextAttempt else { return }
        if let lease, lease.until - now > Lease.maxRest {
            extendLease(to: Lease(owner: lease.owner, until: now + Lease.duration))
        } else if lease != nil || state == .held {
            // A lease ends soon. A held item is due when it expires.
        } else {
            // Without parts for FCM it is due when it expires.
            if pendingTransports != .webpush {
                self.nextAttempt = capped(nextAttempt, of: .fcm, at: now, notBefore: notBefore, schedule: schedule)
            }
            if let webpushAttempt {
                self.webpushAttempt = capped(webpushAttempt, of: .webpush, at: now, notBefore: notBefore, schedule: schedule)
            }
        }
    }

    /// The time at which its parts for a transport are due, or the latest possible one if that is earlier.
    private func capped(
        _ due: UnixMilliseconds, of transport: PushTransport, at now: UnixMilliseconds, notBefore: UnixMilliseconds?,
        schedule: RetrySchedule
    ) -> UnixMilliseconds {
        guard attempts > 0 else { return min(due, max(now, notBefore ?? now)) }
        let asked = pendingParts(of: transport).compactMap { parts[$0].error?.retryAfter }.max()
        let longest = schedule.delay(after: attempts, asked: asked, within: .max, random: 1)
        return due - now > longest ? now + longest : due
    }

    /// Sets the error of every part that a transport is still to send.
    mutating func setError(_ error: DeliveryError, of transport: PushTransport) {
        for index in pendingParts(of: transport) { parts[index].error = error }
    }

    /// Ends the lease, and derives the state from the parts.
    ///
    /// - Parameter delays: The waits before the next attempts by the transports; `nil` for one whose time stays. A relay may ask for any
    ///   number.
    private mutating func settle(at now: UnixMilliseconds, expires: UnixMilliseconds, delays: PerTransport<Milliseconds?>) {
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
            hold(until: expires)
        } else if states.contains(.pending) {
            state = attempts > 0 ? .retrying : .pending
            let pending = pendingTransports
            // If there is no time for another attempt, the message is due again at its expiry.
            func due(_ delay: Milliseconds?) -> UnixMilliseconds? { delay.map { $0 < expires - now ? now + $0 : expires } }
            nextAttempt = pending.contains(.fcm) ? due(delays[.fcm]) ?? nextAttempt ?? now : expires
            webpushAttempt = pending.contains(.webpush) ? due(delays[.webpush]) ?? webpushAttempt ?? now : nil
            ended = nil
        } else {
            state =
                states.contains(.failed)
                ? .failed
                : states.contains(.recalled)
                    ? .recalled : states.contains(.expired) || states.isEmpty && expires <= now ? .expired : .relayed
            nextAttempt = nil
            webpushAttempt = nil
            ended = now
            forgetAccounts()
        }
    }
}

/// What came of one attempt by a transport.
struct AttemptOutcome: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A relay has answered. For parts that it has not accepted, a wait follows.
        case answered([PartResult])
        /// No relay was asked or has accepted it, so FCM or the push services have not got it. It is due again at once, or when the error
        /// says. The error is kept if the message expires.
        case unreachable(DeliveryError)
        /// A relay has accepted it, and its answer was lost: why. It is unknown whether FCM has the parts, so they are sent again. The
        /// phone drops a message's second copy by its `msi_key`. The wait doubles each time, in case the item itself crashes the relays.
        case unanswered(String)
    }

    let transport: PushTransport
    let kind: Kind

    init(_ transport: PushTransport, _ kind: Kind) {
        self.transport = transport
        self.kind = kind
    }

    /// The outcomes of the parts, if a relay has answered.
    var results: [PartResult] {
        if case .answered(let results) = kind { results } else { [] }
    }

    /// Whether a relay has taken it.
    var wasTaken: Bool {
        if case .unreachable = kind { false } else { true }
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
