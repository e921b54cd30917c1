import HTTPTypes

/// An error with which a request is answered instead of being done.
struct FaultAnswer: Hashable, Sendable {
    let error: Kind
    let retryAfter: RetryAfter?
    let body: Body

    enum Kind: Hashable, Sendable {
        case google(GoogleError)
        /// That of the topic or the phone that the message is for is used up.
        case targetQuota
        /// Of the token endpoint alone.
        case oauth(OAuthError)
    }

    /// When the client may try again, in either of HTTP's two forms.
    enum RetryAfter: Hashable, Sendable {
        case seconds(Int)
        /// A date so many seconds from now.
        case date(Int)
    }

    enum Body: String, CaseIterable, Sendable {
        case json = "JSON"
        /// The page of a front end whose backend is away.
        case html = "HTML"
        case empty = "EMPTY"
    }
}

extension FaultAnswer.Kind {
    static let invalidArgument = google(.fcm(.invalidArgument, "Request contains an invalid argument."))
    static let unauthenticated = google(.unauthenticated(.tokenExpired))
    /// The text speaks of the sender's own credentials, although it is about those of APNs: only the code is to be trusted.
    static let thirdPartyAuthError = google(
        .fcm(.thirdPartyAuthError, GoogleError.unauthenticated(.credentialsMissing).message))
    static let senderIDMismatch = google(.fcm(.senderIDMismatch, "SenderId mismatch"))
    static let unregistered = google(.unregistered)
    static let projectQuota = google(.projectQuotaExceeded(project: ServiceAccount.projectNumber, limit: 600_000))
    static let `internal` = google(.fcm(.internal, "Internal error encountered."))
    static let badGateway = google(
        GoogleError(httpStatus: .badGateway, status: "UNAVAILABLE", message: "The service is currently unavailable."))
    static let unavailable = google(.fcm(.unavailable, "The service is currently unavailable."))
    static let invalidGrant = oauth(.invalidGrant("Invalid JWT Signature."))
    static let skewedClock = oauth(.skewedClock)
}
