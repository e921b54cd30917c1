/// How ``CurlTransport`` uses the network.
struct CurlConfiguration: Sendable {
    /// PEM certificates to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// HTTP/2 connections to one host at most. One is opened when the streams of those before it are all in use.
    var connectionsPerHost = 10
    /// Streams on one connection at most; a server that allows fewer gets fewer. FCM allows 100.
    var streamsPerConnection = 100
    /// Requests that are accepted and not yet answered, at most: the next one is refused as `overloaded`.
    var mostOutstanding = 10_000
    /// How long making a connection may take, TLS included.
    var connectTimeout = Duration.seconds(5)
    /// A connection that was idle for so long is not used again: FCM closes its end after about three minutes.
    var longestIdle = Duration.seconds(118)
    /// A connection that is so old is not used again: FCM closes it at one hour.
    var longestLife = Duration.seconds(3_300)
    /// The longest body of an answer, in bytes.
    var longestBody = 65_536

    /// As many requests as the connections to one host carry at once.
    var mostInFlight: Int { connectionsPerHost * streamsPerConnection }
}
