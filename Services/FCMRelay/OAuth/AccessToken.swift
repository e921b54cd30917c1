import FoundationEssentials

/// What FCM takes as proof of who sends. A secret: it has no description, and belongs in no log.
struct AccessToken: Hashable, Sendable {
    let value: String
    /// The header lines of a request that carries JSON and the token: made once for all of them.
    let headers: [String]

    init(value: String) {
        self.value = value
        headers = [PatientPost.contentType, "authorization: Bearer \(value)"]
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "an access token" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An access token and for how long it is good.
struct GrantedToken: Hashable, Sendable {
    let token: AccessToken
    let lifetime: Duration
}

/// Why there is no access token.
struct TokenFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence, at most 200 characters.
    let description: String
    /// Asking again before this has passed is of no use.
    var retryAfter: Duration?

    init(_ description: String, retryAfter: Duration? = nil) {
        self.description = String(description.prefix(200))
        self.retryAfter = retryAfter
    }
}
