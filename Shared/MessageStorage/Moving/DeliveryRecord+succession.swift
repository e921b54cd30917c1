import Schemas

// Decides which of two records of the same message or push is older. A copy may replace a record only by a later state. Otherwise
// a relayed message would be relayed again, and a recalled one would be sent.

extension DeliveryRecord {
    /// Whether another record can be a later state of this one. In doubt the answer is no.
    ///
    /// The time of the next attempt and the lease are ignored: they change in both directions.
    func canHaveBecome(_ later: Self) -> Bool {
        guard self != later else { return true }
        let interventions = (trace ?? [], later.trace ?? [])
        guard attempts <= later.attempts, interventions.1.starts(with: interventions.0) else { return false }
        let wasAnswered = attempts < later.attempts
        let sawIntervention = interventions.0.count < interventions.1.count
        if nextAttempt == nil, !(later.nextAttempt == nil ? wasAnswered || sawIntervention : sawIntervention) { return false }
        return parts.count == later.parts.count
            && zip(parts, later.parts).allSatisfy {
                $0.canHaveBecome($1, answered: wasAnswered, intervened: sawIntervention)
            }
    }
}

extension DeliveryPart {
    /// - Parameters:
    ///   - answered: Whether a relay has answered in between.
    ///   - intervened: Whether it was retried or recalled in between.
    fileprivate func canHaveBecome(_ later: Self, answered: Bool, intervened: Bool) -> Bool {
        guard isSamePart(as: later) else { return false }
        guard self != later else { return true }
        return switch state {
        case .accepted: false
        // A message can expire without any other event.
        case .pending: answered || intervened || later.state == .expired
        // A relay's answer may come late.
        case .expired, .recalled: answered && later.state == .accepted
        case .failed: intervened || answered && later.state == .accepted
        }
    }
}
