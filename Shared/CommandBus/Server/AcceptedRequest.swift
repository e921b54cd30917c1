import FoundationEssentials

/// A request that a server has accepted: it will be answered, once.
final class AcceptedRequest: Sendable {
    /// The way back.
    let envelope: ReplyEnvelope
    let header: ReceivedHeader
    let payload: Data

    init(envelope: ReplyEnvelope, header: ReceivedHeader, payload: Data) {
        self.envelope = envelope
        self.header = header
        self.payload = payload
    }
}
