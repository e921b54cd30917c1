import FoundationEssentials

/// Work that tasks submit to the bus thread. It is performed in order.
enum BusWork: Sendable {
    case attach(any BusParticipant)
    case detach(any BusParticipant, done: CheckedContinuation<Void, Never>?)

    case request(ClientSockets, PendingRequest)
    case cancel(ClientSockets, PendingRequest)

    /// The lookup of a name has finished.
    indirect case lookedUp(Connector, NameLookup.Outcome)

    /// The instances of a client's or a subscriber's patterns have changed.
    indirect case found(any BusParticipant, instances: [String])

    /// Accept no more requests, and finish the accepted ones.
    case stopServing(ServerSocket)
    /// Resume once a stopped server has answered all accepted requests.
    case whenDrained(ServerSocket, CheckedContinuation<Void, Never>)

    /// Indirect, to keep the other cases small.
    indirect case publish(PublisherSocket, name: String, payload: Data)
}
