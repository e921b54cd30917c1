import Schemas

/// A message at the gateway, as far as `msi send` reports it.
struct SentMessage: Decodable, Sendable {
    let relay: RelayRecord

    /// Whether its state can still change without a person.
    var isPending: Bool { relay.state != .held && relay.ended == nil && relay.nextAttempt != nil }

    /// One line about the outcome.
    var summary: String {
        if relay.isHeldByRestore { return "held (it was restored from a backup; msi outbox release releases it)" }
        if relay.state == .held { return "held (another account must approve it)" }
        let errors = relay.components.compactMap { part in
            part.error.map { "\(part.component.rawValue): \($0.code) \($0.message)" }
        }
        let reason = relay.state == .relayed || errors.isEmpty ? "" : " (\(errors.joined(separator: "; ")))"
        return relay.state.rawValue + reason
    }
}
