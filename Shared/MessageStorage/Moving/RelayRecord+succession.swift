import Schemas

// Which of two records of the same message is the older one. A copy may replace a record only by a later state. Otherwise a
// message that was relayed would be relayed again, and a recalled one would be sent.

extension RelayRecord {
    /// Whether another record can be a later state of this one. In doubt the answer is no.
    ///
    /// The time of the next attempt and the lease are ignored: they change in both directions.
    func canHaveBecome(_ later: RelayRecord) -> Bool {
        guard self != later else { return true }
        let interventions = (trace ?? [], later.trace ?? [])
        guard attempts <= later.attempts, interventions.1.starts(with: interventions.0) else { return false }
        let wasAnswered = attempts < later.attempts
        let sawIntervention = interventions.0.count < interventions.1.count
        if nextAttempt == nil, !(later.nextAttempt == nil ? wasAnswered || sawIntervention : sawIntervention) { return false }
        return components.count == later.components.count
            && zip(components, later.components).allSatisfy {
                $0.canHaveBecome($1, answered: wasAnswered, intervened: sawIntervention)
            }
    }
}

extension ComponentRecord {
    /// - Parameters:
    ///   - answered: Whether a relay has answered for the message in between.
    ///   - intervened: Whether the message was retried or recalled in between.
    fileprivate func canHaveBecome(_ later: ComponentRecord, answered: Bool, intervened: Bool) -> Bool {
        guard component == later.component else { return false }
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
