package import FoundationEssentials

/// An event of a subscriber: a publisher's event, or a change of a connection.
package enum BusEvent: Hashable, Sendable {
    /// A publisher's event; the payload is JSON.
    case event(name: String, payload: Data, endpoint: String)
    /// The subscriber is connected to this endpoint. Earlier events may have been missed.
    case connected(endpoint: String)
    /// The subscriber has lost this endpoint, and receives no events from it until it is connected again.
    case disconnected(endpoint: String)
    /// Events were dropped here, because they were not consumed fast enough.
    case missed
}
