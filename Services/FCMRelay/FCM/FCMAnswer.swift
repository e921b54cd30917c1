import FCM
import FoundationEssentials
import JSON
import Schemas
import Time

/// The meaning of Google's HTTP answer for a request.
enum FCMAnswer<Accepted: Equatable & Sendable>: Equatable, Sendable {
    case accepted(Accepted)
    case refused(SendFailure)
    /// The access token was refused. A new one may help. If it does not, the failure is the result.
    case tokenRefused(SendFailure)

    /// The final result, if no new token is tried.
    var result: Result<Accepted, SendFailure> {
        switch self {
        case .accepted(let value): .success(value)
        case .refused(let failure), .tokenRefused(let failure): .failure(failure)
        }
    }
}

extension FCMAnswer {
    /// Reads an error. The error code is the first of these that exists: the `FcmError` detail, the `ErrorInfo` detail, the
    /// status in the body, HTTP's status.
    ///
    /// - Parameter now: The wall clock, for a Retry-After that is a date.
    init(refusal response: HTTPTransportResponse, now: UnixMilliseconds) {
        let body = (try? JSONCoder.decode(FCMErrorBody.self, from: response.body))?.error
        let codes = body?.codes ?? []
        let verdict = codes.lazy.compactMap(FCMVerdict.init(code:)).first ?? FCMVerdict(httpStatus: response.status)
        let code = codes.first ?? "HTTP_\(response.status)"
        let message = body?.message.map { String($0.prefix(200)) } ?? "FCM answered \(response.status) without saying why"
        switch verdict {
        case .permanent:
            self = .refused(SendFailure(DeliveryError(class: .permanent, code: code, message: message)))
        case .retryable(let pause, let scope):
            let retryAfter = response.retryAfter.flatMap { RetryAfter(header: $0, now: now) }?.time
            self = .refused(
                SendFailure(
                    DeliveryError(
                        class: .retryable, code: code, message: message, retryAfter: retryAfter ?? Milliseconds(pause)),
                    scope: scope))
        case .tokenRefused:
            self = .tokenRefused(
                SendFailure(DeliveryError(class: .retryable, code: code, message: message), scope: .service))
        }
    }
}

extension FCMAnswer<String> {
    /// Reads the answer to a send: FCM's name for the message, or an error.
    ///
    /// After a 2xx without a name it is unknown whether FCM has the message. It is retried: a phone drops a second copy by its
    /// `msi_key`, while a message that was never sent is lost.
    @inline(never)
    static func classify(_ response: HTTPTransportResponse, now: UnixMilliseconds) -> FCMAnswer {
        guard (200..<300).contains(response.status) else { return FCMAnswer(refusal: response, now: now) }
        guard let body = FCMAcceptance(body: response.body), !body.name.isEmpty, body.name.utf8.count <= 500 else {
            return .refused(
                SendFailure(
                    DeliveryError(
                        .badAnswer, "FCM answered \(response.status) without a name for the message; it may have accepted it")))
        }
        return .accepted(body.name)
    }
}
