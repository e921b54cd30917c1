/// What FCM's front end lets one HTTP/2 connection do.
struct ConnectionLimits: Hashable, Sendable {
    /// How many streams may be open at a time, as the SETTINGS say.
    var streams = 100
    var excess = Excess.goAway
    /// After how long without a stream the connection is ended; `nil` for never.
    var idle: Duration? = .seconds(240)
    /// After how long the connection is ended, whatever goes on; `nil` for never.
    var age: Duration? = .seconds(3_600)
    /// Which PING in a row, without a request between them, ends the connection; `nil` for none.
    var pings: Int? = 3

    /// What is done about a stream too many.
    enum Excess: String, CaseIterable, Sendable {
        /// The whole connection ends with an error, as FCM's own does.
        case goAway = "GOAWAY"
        /// The stream is refused, and nothing else happens.
        case refuse = "REFUSED_STREAM"
    }
}
