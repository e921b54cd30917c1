import HTTPRouting
import HTTPTypes
import Hummingbird
import JSON
import Schemas
import Time

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

    /// The error of a send; `nil` for one of the token endpoint.
    func googleError(_ subject: FaultRule.Subject) -> GoogleError? {
        switch error {
        case .oauth: nil
        case .targetQuota: .targetQuotaExceeded(subject)
        case .google(let error): error
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
