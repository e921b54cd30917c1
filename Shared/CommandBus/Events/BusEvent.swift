package import FoundationEssentials

/// What a subscriber learns.
package enum BusEvent: Hashable, Sendable {
    /// A publisher's event; the payload is JSON.
    case event(name: String, payload: Data, endpoint: String)
    /// Events of this endpoint will come from now on; earlier ones may have been missed.
    case connected(endpoint: String)
    /// No events of this endpoint come until it is connected again.
    case disconnected(endpoint: String)
    /// Events were dropped here, because they were not taken fast enough.
    case missed
}
