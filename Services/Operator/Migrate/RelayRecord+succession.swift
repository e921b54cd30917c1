import Schemas

// Which of two records of the same message is the older one. A copy may only replace a record by what has come of it: the other
// way round a message that has gone out would go out again, and one that was taken back would come to life.

extension RelayRecord {
    /// Whether another record can have come of this one by what happens to a message on its way. Where that is in doubt it
    /// has not.
    ///
    /// When the next attempt is due and who has the lease do not count: they go forth and back, and take nothing back.
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
    ///   - intervened: Whether somebody has retried or recalled it in between.
    fileprivate func canHaveBecome(_ later: ComponentRecord, answered: Bool, intervened: Bool) -> Bool {
        guard component == later.component else { return false }
        guard self != later else { return true }
        return switch state {
        case .accepted: false
        // The deadline may pass without anybody's doing.
        case .pending: answered || intervened || later.state == .expired
        // A relay's answer may come late.
        case .expired, .recalled: answered && later.state == .accepted
        case .failed: intervened || answered && later.state == .accepted
        }
    }
}
