/// The times of the bus that depend on each other.
package enum BusTimes {
    /// How long a peer may be silent, despite heartbeats, before its connection counts as lost. A client sends a heartbeat after
    /// each third of this time, so that it notices a lost connection after two thirds at the earliest.
    package static let silence = Duration.seconds(3)

    /// The minimum gap that counts as a pause of the process. It is shorter than two thirds of ``silence``: nothing is begun
    /// for a peer that may have given up meanwhile.
    package static let minPause = silence / 2

    /// How long a client waits for a reply, unless the caller says otherwise.
    package static let requestTimeout = Duration.seconds(5)

    /// How long a handler may take for an answer whose size it does not know in advance, such as a search. The rest of
    /// ``requestTimeout`` is for the transport of the request and of the reply. Without it, the reply to a long search would
    /// arrive after the client has given up.
    package static let maxSearchTime = requestTimeout - .seconds(1)
}
