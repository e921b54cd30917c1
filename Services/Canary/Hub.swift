import Schemas

/// The hub, as the canary uses it.
protocol Hub: Sendable {
    /// Posts a message that is worth delivering for a time.
    ///
    /// - Returns: Its `msi_key`, once it is stored.
    func post(_ text: String, ttl: Duration) async throws -> ObjectID

    /// How far a message is.
    func progress(of msiKey: ObjectID) async throws -> Progress
}

/// How far a message is.
struct Progress: Hashable, Sendable {
    var state: RelayState
    /// Whether a phone has reported it.
    var isReceived = false

    /// Whether it cannot reach FCM any more.
    var hasFailed: Bool { [.failed, .expired, .recalled].contains(state) }
}

/// Why the hub could not be used.
struct HubFailure: Error, Hashable, CustomStringConvertible {
    let description: String
}
