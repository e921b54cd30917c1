import Schemas
import Time

extension AuditBacklog {
    /// Entries reach the audit log within this time as long as the people service is there.
    private static let maxAge = Milliseconds.seconds(60)

    /// The state of the way to the audit log.
    func health(at now: UnixMilliseconds) -> PartHealth {
        guard refused == 0 else {
            return PartHealth(.invalid, "the audit log has refused \(refused) entries: see the service's log")
        }
        guard let oldest, now - oldest >= Self.maxAge else { return .ok }
        let number = count < Self.maxCounted ? "\(count)" : "more than \(Self.maxCounted)"
        // In minutes, so that the state does not change all the time.
        let minutes = (now - oldest).rawValue / 60_000
        return PartHealth(.unavailable, "\(number) entries wait for the audit log, the oldest for \(minutes) min")
    }
}
