import FoundationEssentials

/// A request that a server has accepted. It is answered exactly once.
final class AcceptedRequest: Sendable {
    /// Routes the reply to the sender.
    let envelope: ReplyEnvelope
    let header: ReceivedHeader
    let payload: Data
    let arrival: RequestArrival

    init(envelope: ReplyEnvelope, header: ReceivedHeader, payload: Data, arrival: RequestArrival) {
        self.envelope = envelope
        self.header = header
        self.payload = payload
        self.arrival = arrival
    }
}
