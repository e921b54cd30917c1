import NIOHTTP2

/// The end of an HTTP/2 connection, as its client is told.
struct GoAway: Hashable, Sendable {
    /// The last stream that is or will be done. Whatever has a higher number never was, and may be sent again elsewhere.
    let lastStream: Int
    let reason: Reason

    /// Why: an error code, and a text for whoever reads the client's log.
    struct Reason: Hashable, Sendable {
        let code: HTTP2ErrorCode
        let text: String
        /// Whether the connection ends with this word, and not only once what it covers is done.
        var isFinal = false
    }
}

extension GoAway.Reason {
    /// The reasons of FCM's own front end, by its own names.
    static let idle = Self(code: .noError, text: "session_timeout")
    static let age = Self(code: .noError, text: "max_age")
    static let tooManyPings = Self(code: .enhanceYourCalm, text: "too_many_pings", isFinal: true)
    static let tooManyStreams = Self(code: .protocolError, text: "exceeded_max_concurrent_streams", isFinal: true)
    static let stopping = Self(code: .noError, text: "")
}
