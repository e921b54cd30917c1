import FoundationEssentials

/// What tasks ask of the bus thread, in the order in which they ask.
enum BusWork: Sendable {
    case attach(any BusParticipant)
    case detach(any BusParticipant, done: CheckedContinuation<Void, Never>?)

    case request(ClientSockets, PendingRequest)
    case cancel(ClientSockets, PendingRequest)

    /// A name was looked up.
    indirect case lookedUp(Connector, NameLookup.Outcome)

    /// Take no more requests; finish those that were accepted.
    case stopServing(ServerSocket)
    /// Resume when a stopped server has answered all that it accepted.
    case whenDrained(ServerSocket, CheckedContinuation<Void, Never>)

    /// Apart, so that the others are small.
    indirect case publish(PublisherSocket, name: String, payload: Data)
}
