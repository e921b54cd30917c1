/// The network settings of ``CurlTransport``.
struct CurlConfiguration: Sendable {
    /// PEM certificates to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// The maximum number of HTTP/2 connections to one host. A connection is opened when all streams of the others are in use.
    var connectionsPerHost = 10
    /// The maximum number of streams on one connection, unless the server allows fewer. FCM allows 100.
    var streamsPerConnection = 100
    /// The maximum number of accepted and unanswered requests. Further ones are refused as `overloaded`.
    var maxPending = 10_000
    /// The timeout for making a connection, including TLS.
    var connectTimeout = Duration.seconds(5)
    /// A connection that was idle for this time is not used again: FCM closes it after about three minutes.
    var idleTimeout = Duration.seconds(118)
    /// A connection of this age is not used again: FCM closes it after one hour.
    var maxConnectionAge = Duration.seconds(3_300)
    /// A connection that has had a request for this time and has answered nothing since gets no further requests.
    var silenceTimeout = Duration.seconds(3)
    /// How long the kernel retransmits unacknowledged data before it closes the connection (`TCP_USER_TIMEOUT`).
    var acknowledgementTimeout = Duration.seconds(10)
    /// After this idle time, and at this interval, TCP keep-alive probes a connection.
    var keepAliveInterval = Duration.seconds(30)
    /// The maximum body of an answer, in bytes. The longest lists a phone's 2,000 topics, whose names may have 900 characters, with
    /// their dates: 2 MB.
    var maxBodyBytes = 4 << 20

    /// The number of concurrent requests that the connections to one host carry.
    var maxInFlight: Int { connectionsPerHost * streamsPerConnection }
}
