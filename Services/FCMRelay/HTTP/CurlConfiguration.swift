/// How ``CurlTransport`` uses the network.
struct CurlConfiguration: Sendable {
    /// PEM certificates to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// HTTP/2 connections to one host at most. One is opened when the streams of those before it are all in use.
    var connectionsPerHost = 10
    /// Streams on one connection at most; a server that allows fewer gets fewer. FCM allows 100.
    var streamsPerConnection = 100
    /// Requests that are accepted and not yet answered, at most: the next one is refused as `overloaded`.
    var maxOutstanding = 10_000
    /// How long making a connection may take, TLS included.
    var connectTimeout = Duration.seconds(5)
    /// A connection that was idle for so long is not used again: FCM closes its end after about three minutes.
    var idleTimeout = Duration.seconds(118)
    /// A connection that is so old is not used again: FCM closes it at one hour.
    var maxConnectionAge = Duration.seconds(3_300)
    /// A connection that has had a request for so long and answered nothing since gets no more of them.
    var silenceTimeout = Duration.seconds(3)
    /// For how long the kernel repeats what the peer does not acknowledge before it closes the connection.
    var acknowledgementTimeout = Duration.seconds(10)
    /// A connection that was idle for so long is asked for a sign of life, so that a dead one is not there to be used.
    var keepAliveInterval = Duration.seconds(30)
    /// The longest body of an answer, in bytes.
    var maxBodyBytes = 65_536

    /// As many requests as the connections to one host carry at once.
    var maxInFlight: Int { connectionsPerHost * streamsPerConnection }
}
