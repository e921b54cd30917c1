import FoundationEssentials

/// A request that a server has accepted: it will be answered, once.
///
/// Filled by the bus thread, then by the task that handles it, which hands it back with the reply through the outbox.
final class AcceptedRequest: @unchecked Sendable {
    /// The number under which the bus thread keeps it until it is answered.
    let ticket: UInt64
    /// The way back.
    let envelope: ReplyEnvelope
    let header: ReceivedHeader
    let payload: Data
    /// Set once, before the request is handed back.
    var reply: Reply?

    init(ticket: UInt64, envelope: ReplyEnvelope, header: ReceivedHeader, payload: Data) {
        self.ticket = ticket
        self.envelope = envelope
        self.header = header
        self.payload = payload
    }
}
