/// FCM's front end's limits for one HTTP/2 connection.
struct ConnectionLimits: Hashable, Sendable {
    /// The maximum number of concurrent streams, as in the SETTINGS.
    var streams = 100
    var excess = Excess.goAway
    /// The time without a stream after which the connection ends; `nil` for never.
    var idle: Duration? = .seconds(240)
    /// The age at which the connection ends, even if it is busy; `nil` for never.
    var age: Duration? = .seconds(3_600)
    /// The number of PINGs in a row, without a request between them, that ends the connection; `nil` for no limit.
    var pings: Int? = 3

    /// What happens to a stream above the limit.
    enum Excess: String, CaseIterable, Sendable {
        /// The whole connection ends with an error, as at FCM.
        case goAway = "GOAWAY"
        /// Only the stream is refused.
        case refuse = "REFUSED_STREAM"
    }
}
