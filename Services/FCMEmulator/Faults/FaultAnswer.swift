import HTTPRouting
import HTTPTypes
import Hummingbird
import Base
import Schemas

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

    /// The value of `Retry-After`, in one of HTTP's two forms.
    enum RetryAfter: Hashable, Sendable {
        case seconds(Seconds)
        /// A date this long from now.
        case date(Seconds)
    }

    enum Body: String, CaseIterable, Sendable {
        case json = "JSON"
        /// An HTML page, as from a front end that cannot reach its backend.
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

extension FaultAnswer {
    /// The answer in the form of the request's endpoint.
    func response(to operation: Operation, _ subject: FaultRule.Subject, now: UnixMilliseconds) -> Response {
        var (status, headers, document) = parts(operation, subject)
        headers[.retryAfter] = retryAfter?.text(now: now)
        switch body {
        case .json:
            return Response(status, document, headers: headers)
        case .empty:
            return Response(status: status, headers: headers)
        case .html:
            return FrontEndPage(
                status,
                "The server encountered a temporary error and could not complete your request.<p>Please try again in 30 seconds."
            ).response(headers: headers)
        }
    }

    private func parts(
        _ operation: Operation, _ subject: FaultRule.Subject
    ) -> (HTTPResponse.Status, HTTPFields, JSONValue) {
        switch error {
        case .oauth(let error): (.badRequest, [:], error.document)
        case .targetQuota: parts(.targetQuotaExceeded(subject), operation)
        case .google(let error): parts(error, operation)
        }
    }

    /// Each endpoint has its own form for the errors that all Google APIs share.
    private func parts(_ error: GoogleError, _ operation: Operation) -> (HTTPResponse.Status, HTTPFields, JSONValue) {
        let document: JSONValue =
            switch operation {
            case .send: error.document
            case .topics: ["error": .string(error.message)]
            case .token: OAuthError("internal_failure", error.message).document
            }
        return (error.httpStatus, error.headers, document)
    }
}

extension FaultAnswer.RetryAfter {
    fileprivate func text(now: UnixMilliseconds) -> String {
        switch self {
        case .seconds(let seconds): seconds.description
        case .date(let seconds): (now + Milliseconds(seconds)).httpDate
        }
    }
}
