import NIOCore

/// The timeouts for the client's actions on a connection.
struct ConnectionTimeouts: Sendable {
    /// From the connection's opening, or the end of a response, to the first byte of a request.
    var idle = TimeAmount.seconds(15)
    /// From a request's first byte to its last.
    var request = TimeAmount.seconds(10)
    /// From a response's first byte to its last. For a response whose size is unknown at its begin: for each piece of it.
    var response = TimeAmount.seconds(30)
    /// From the last response to the client's end of the connection.
    var closing = TimeAmount.seconds(1)
    /// How long an idle connection stays open when the gateway stops. A restart takes that much longer.
    var stopping = TimeAmount.milliseconds(500)
}
