import FoundationEssentials
import Schemas

/// What an HTTP answer of FCM means for the component that was sent.
enum FCMAnswer: Equatable, Sendable {
    /// FCM has it, under this name.
    case accepted(String)
    /// FCM does not have it.
    case refused(ComponentError)
    /// FCM does not take the access token: a new one may help; the error is for when it does not.
    case tokenRefused(ComponentError)

    /// The code for an answer that cannot be understood.
    static let badAnswer = "BAD_ANSWER"

    /// Reads an answer (shared facts on FCM's errors: the `FcmError` detail says most, then the `ErrorInfo` detail, then the
    /// status in the body, then HTTP's).
    ///
    /// A 2xx without a name leaves open whether FCM has the message. It is retried: a phone that gets it twice drops the
    /// second by its `msi_key`, while a message that was never sent is lost.
    ///
    /// - Parameter now: The wall clock, for a Retry-After that is a date.
    static func classify(_ response: HTTPTransportResponse, now: UnixMilliseconds) -> FCMAnswer {
        if (200..<300).contains(response.status) { return accepted(response) }
        let body = (try? JSONDecoder().decode(FCMErrorBody.self, from: response.body))?.error
        let codes = body?.codes ?? []
        let verdict = codes.lazy.compactMap(FCMVerdict.init(code:)).first ?? FCMVerdict(httpStatus: response.status)
        let code = codes.first ?? "HTTP_\(response.status)"
        let message = body?.message.map { String($0.prefix(200)) } ?? "FCM answered \(response.status) without saying why"
        switch verdict {
        case .permanent:
            return .refused(ComponentError(class: .permanent, code: code, message: message))
        case .retryable(let pause):
            let retryAfter = response.retryAfter.flatMap { RetryAfter(header: $0, now: now) }?.milliseconds
            return .refused(
                ComponentError(class: .retryable, code: code, message: message, retryAfter: retryAfter ?? pause.milliseconds))
        case .tokenRefused:
            return .tokenRefused(ComponentError(class: .retryable, code: code, message: message))
        }
    }

    private static func accepted(_ response: HTTPTransportResponse) -> FCMAnswer {
        guard let body = try? JSONDecoder().decode(Acceptance.self, from: response.body), !body.name.isEmpty,
            body.name.utf8.count <= 500
        else {
            return .refused(
                ComponentError(
                    class: .retryable, code: badAnswer,
                    message: "FCM answered \(response.status) without a name for the message; it may have accepted it"))
        }
        return .accepted(body.name)
    }

    private struct Acceptance: Decodable {
        let name: String
    }
}
