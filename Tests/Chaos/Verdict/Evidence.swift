import ProductHarness

/// What a chaos run has seen from outside, once everything has come to its end.
struct Evidence: Sendable {
    /// What was answered with 201.
    var accepted: [Traffic.Accepted] = []
    /// Every message of the archive, by `msi_key`.
    var archive: [String: ArchivedMessage] = [:]
    /// Every send that FCM accepted, in order.
    var sends: [SentComponent: [AcceptedSend]] = [:]
    /// Who heard that FCM has accepted a send, by FCM's name for it.
    var hearings: [String: Hearing] = [:]
    /// Who gave a component up without an acceptance.
    var failures: [SentComponent: [Hearing]] = [:]
    /// Which relays ended with a component under way.
    var unfinished: [SentComponent: Set<Part>] = [:]
    /// When posts were refused because the disk was full, Unix milliseconds.
    var refusals: [Int64] = []
    var disturbances: [Disturbance] = []
    var failedStarts: [RunningPart.FailedStart] = []
    /// Answers that nobody should get, processes that ended by themselves: wrong whatever else there is.
    var problems: [String] = []
}

/// That a relay has heard something of a send.
struct Hearing: Hashable, Sendable {
    let relay: Part
    /// Unix milliseconds.
    let time: Int64
}
