/// The state of a delivery: the common part of a message's and a push's record. Only the message log writes it.
package protocol DeliveryRecord: Hashable, Sendable {
    associatedtype Part: DeliveryPart

    var state: RelayState { get set }
    /// How often a relay has taken it.
    var attempts: Int { get set }
    /// When it is due; while a process is at work on it, the end of the lease. Absent once the state is final.
    var nextAttempt: UnixMilliseconds? { get set }
    var lease: Lease? { get set }
    /// When it ended; absent before.
    var ended: UnixMilliseconds? { get set }
    /// The parts that are sent separately, each with its outcome.
    var parts: [Part] { get set }
    /// The interventions of people, oldest first.
    var trace: [Intervention]? { get set }
}

/// One request to FCM, and its outcome.
package protocol DeliveryPart: Hashable, Sendable {
    var state: DeliveryState { get set }
    /// FCM's name for the accepted message.
    var name: String? { get set }
    /// When FCM has accepted it.
    var acceptedAt: UnixMilliseconds? { get set }
    /// The error of the last attempt.
    var error: DeliveryError? { get set }

    /// Whether another value is the same part in another state.
    func isSamePart(as other: Self) -> Bool
}

extension DeliveryRecord {
    /// Whether it comes from a backup and has not been released since. It may have gone out after the backup was made.
    package var isHeldByRestore: Bool {
        guard state == .held else { return false }
        return trace?.last { $0.action == .restore || $0.action == .release }?.action == .restore
    }

    /// The positions of the parts that are still to be sent.
    package var pendingParts: [Int] { parts.indices.filter { parts[$0].state == .pending } }

    /// The record after a change that applies to records of every type.
    package func changed(by change: (inout any DeliveryRecord) throws -> Void) rethrows -> Self {
        var record: any DeliveryRecord = self
        try change(&record)
        // A change does not change the record's type.
        return record as? Self ?? self
    }
}

extension RelayRecord: DeliveryRecord {
    package var parts: [ComponentRecord] {
        get { components }
        set { components = newValue }
    }
}

extension ComponentRecord: DeliveryPart {
    package func isSamePart(as other: ComponentRecord) -> Bool { component == other.component }
}
