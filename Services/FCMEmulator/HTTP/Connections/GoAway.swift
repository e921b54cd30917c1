import NIOHTTP2

/// The content of an HTTP/2 GOAWAY.
struct GoAway: Hashable, Sendable {
    /// The last stream that is or will be processed. Streams with higher numbers were not, and may be sent again elsewhere.
    let lastStream: Int
    let reason: Reason

    /// An error code, and a text for the client's log.
    struct Reason: Hashable, Sendable {
        let code: HTTP2ErrorCode
        let text: String
        /// Whether the connection ends at once, without waiting for the streams that the GOAWAY covers.
        var isFinal = false
    }
}

extension GoAway.Reason {
    /// The reasons that FCM's front end gives, in its own words.
    static let idle = Self(code: .noError, text: "session_timeout")
    static let age = Self(code: .noError, text: "max_age")
    static let tooManyPings = Self(code: .enhanceYourCalm, text: "too_many_pings", isFinal: true)
    static let tooManyStreams = Self(code: .protocolError, text: "exceeded_max_concurrent_streams", isFinal: true)
    static let stopping = Self(code: .noError, text: "")
}
