/// The network settings of ``CurlTransport``.
package struct CurlConfiguration: Sendable {
    /// The name in the header `User-Agent`.
    package var userAgent: String
    /// The timeout of most requests. Connections that have never answered are replaced by new ones only after this time.
    package var requestTimeout: Duration
    /// PEM certificates to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// The maximum number of threads.
    package var threads = 2
    /// The maximum number of HTTP/2 connections to one host. A connection is opened when all streams of the others are in use.
    package var connectionsPerHost = 10
    /// The maximum number of idle connections that stay open in addition to those to one host.
    package var otherConnections = 1
    /// Whether the requests go to many hosts. Then the connections of all are replaced because of a silent host only if that host has
    /// answered on one of them before, or they are as old as ``requestTimeout``.
    package var hasManyHosts = false
    /// The maximum number of streams on one connection, unless the server allows fewer.
    package var streamsPerConnection = 100
    /// The maximum number of accepted and unanswered requests. Further ones are refused as `overloaded`.
    package var maxPending = 10_000
    /// The timeout for making a connection, including TLS.
    package var connectTimeout = Duration.seconds(5)
    /// A connection that was idle for this time is not used again.
    package var idleTimeout = Duration.seconds(118)
    /// A connection of this age is not used again.
    package var maxConnectionAge = Duration.seconds(3_300)
    /// A connection that has had a request for this time and has answered nothing since gets no further requests.
    package var silenceTimeout = Duration.seconds(3)
    /// How long the kernel retransmits unacknowledged data before it closes the connection (`TCP_USER_TIMEOUT`).
    package var acknowledgementTimeout = Duration.seconds(10)
    /// After this idle time, and at this interval, TCP keep-alive probes a connection.
    package var keepAliveInterval = Duration.seconds(30)
    /// The maximum body of an answer, in bytes.
    package var maxBodyBytes = 1 << 20

    package init(userAgent: String, requestTimeout: Duration, certificateAuthorityFile: String? = nil) {
        self.userAgent = userAgent
        self.requestTimeout = requestTimeout
        self.certificateAuthorityFile = certificateAuthorityFile
    }

    /// The number of concurrent requests that the connections to one host carry.
    var maxInFlight: Int { connectionsPerHost * streamsPerConnection }
}
