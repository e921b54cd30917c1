import HTTPTypes
import Time

/// An error that answers a request instead of processing it.
struct FaultAnswer: Hashable, Sendable {
    let error: Kind
    let retryAfter: RetryAfter?
    let body: Body

    enum Kind: Hashable, Sendable {
        case google(GoogleError)
        /// The quota of the message's topic or phone is used up.
        case targetQuota
        /// For the token endpoint only.
        case oauth(OAuthError)
    }

    /// When the client may try again, in one of HTTP's two forms.
    enum RetryAfter: Hashable, Sendable {
        case seconds(Seconds)
        /// A date this long from now.
        case date(Seconds)
    }

    enum Body: String, CaseIterable, Sendable {
        case json = "JSON"
        /// The page of a front end that cannot reach its backend.
        case html = "HTML"
        case empty = "EMPTY"
    }
}

extension FaultAnswer.Kind {
    static let invalidArgument = google(.fcm(.invalidArgument, "Request contains an invalid argument."))
    static let unauthenticated = google(.unauthenticated(.tokenExpired))
    /// The text mentions the sender's own credentials, although the error is about those of APNs. Only the code is reliable.
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
