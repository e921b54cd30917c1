import FoundationEssentials

/// A request that a server has accepted: it will be answered, once.
final class AcceptedRequest: Sendable {
    /// The way back.
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
