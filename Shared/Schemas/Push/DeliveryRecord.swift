/// How far something has come on its way to its recipients: what a message's and a push's record have in common. The message log
/// alone writes it.
package protocol DeliveryRecord: Hashable, Sendable {
    associatedtype Part: DeliveryPart

    var state: RelayState { get set }
    /// How often a relay has answered for it.
    var attempts: Int { get set }
    /// When it is due; while a process is at work on it, the end of the lease. Absent once the state is final.
    var nextAttempt: UnixMilliseconds? { get set }
    var lease: Lease? { get set }
    /// When it came to its end; absent before.
    var ended: UnixMilliseconds? { get set }
    /// What is sent by itself, and has an outcome of its own.
    var parts: [Part] { get set }
    /// What people did to it, oldest first.
    var trace: [Intervention]? { get set }
}

/// One request to FCM, and what became of it.
package protocol DeliveryPart: Hashable, Sendable {
    var state: ComponentState { get set }
    /// FCM's own name for what it accepted.
    var name: String? { get set }
    /// Why it was not accepted when it was last tried.
    var error: ComponentError? { get set }

    /// Whether another one is the same part at another time.
    func isSamePart(as other: Self) -> Bool
}

extension DeliveryRecord {
    /// The positions of the parts that still have to be sent.
    package var outstandingParts: [Int] { parts.indices.filter { parts[$0].state == .pending } }

    /// The record after a change that works on records of every kind.
    package func changed(by change: (inout any DeliveryRecord) throws -> Void) rethrows -> Self {
        var record: any DeliveryRecord = self
        try change(&record)
        // A change of a record leaves its kind as it is.
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
