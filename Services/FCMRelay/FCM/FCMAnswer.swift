import FCM
import FoundationEssentials
import HTTPTransport
import Base
import Schemas

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
    static func classify(_ response: HTTPTransportResponse, now: @autoclosure () -> UnixMilliseconds) -> FCMAnswer {
        guard (200..<300).contains(response.status) else { return FCMAnswer(refusal: response, now: now()) }
        guard let body = FCMAcceptance(body: response.body), !body.name.isEmpty, body.name.utf8.count <= 500 else {
            return .refused(
                SendFailure(
                    DeliveryError(
                        .badAnswer, "FCM answered \(response.status) without a name for the message; it may have accepted it")))
        }
        return .accepted(body.name)
    }
}

/// How to react to an error from Google.
enum FCMVerdict: Equatable, Sendable {
    case permanent
    /// Retry after the pause, or after the answer's Retry-After.
    case retryable(pause: Duration, SendFailure.Scope)
    case tokenRefused
}

extension FCMVerdict {
    /// Google: wait ten seconds or more before a first retry.
    private static let soon = FCMVerdict.retryable(pause: .seconds(10), .service)
    private static let whenProxyIsBack = FCMVerdict.retryable(pause: .seconds(30), .service)
    /// Google: wait a minute if a quota is used up and there is no Retry-After.
    private static func whenQuotaIsRefilled(of scope: SendFailure.Scope) -> FCMVerdict {
        .retryable(pause: .seconds(60), scope)
    }

    /// The verdict for an `FcmError` code, an `ErrorInfo` reason, a status of Google's APIs or an error of the Instance ID
    /// service; `nil` for an unknown code.
    init?(code: String) {
        guard let code = RelayErrorCode(rawValue: code), code.origin == .fcm else { return nil }
        switch code {
        case .quotaExceeded:
            self = Self.whenQuotaIsRefilled(of: .topic)
        // FCM has no code for the project's quota, and uses Google's general ones.
        case .rateLimitExceeded, .resourceExhausted:
            self = Self.whenQuotaIsRefilled(of: .project)
        case .unauthenticated:
            self = .tokenRefused
        default:
            self = code.class == .permanent ? .permanent : Self.soon
        }
    }

    /// Classifies an answer by its HTTP status, if the body has no error code, such as an empty one or a proxy's page.
    init(httpStatus: Int) {
        switch httpStatus {
        case 401: self = .tokenRefused
        case 408: self = Self.soon
        case 429: self = Self.whenQuotaIsRefilled(of: .project)
        case 400..<500: self = .permanent
        case 502: self = Self.whenProxyIsBack
        // 5xx, and answers that come from no API, such as a redirect to a network's log-in page.
        default: self = Self.soon
        }
    }
}

/// `{"error":{"code":…,"message":…,"status":…,"details":[…]}}`. Fields that are missing or have another type are ignored; the
/// rest is sufficient. The Instance ID service's form is `{"error":"…"}`.
struct FCMErrorBody: Decodable {
    let error: Problem

    struct Problem: Decodable {
        let message: String?
        /// The error's codes, the most specific one first: `FcmError.errorCode`, `ErrorInfo.reason`, `status`. Before them `UNREGISTERED`, if
        /// FCM finds the registration token invalid, and nothing else of the message.
        let codes: [String]

        private enum CodingKeys: String, CodingKey {
            case message, status, details
        }

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                message = text
                codes = []
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            message = try? container.decode(String.self, forKey: .message)
            let details = (try? container.decode([Detail].self, forKey: .details)) ?? []
            let status = try? container.decode(String.self, forKey: .status)
            let named = (details.compactMap(\.errorCode) + details.compactMap(\.reason) + [status].compactMap(\.self))
                .filter { Self.isCode($0) && $0 != Self.unspecified }
            let wrongFields = details.flatMap(\.wrongFields)
            let isTokenWrong =
                named.first == RelayErrorCode.invalidArgument.rawValue && !wrongFields.isEmpty
                && wrongFields.allSatisfy { $0 == "message.token" }
            // Such a token is of no more use than that of an app which is gone.
            codes = isTokenWrong ? [RelayErrorCode.unregistered.rawValue] + named : named
        }

        private static let unspecified = "UNSPECIFIED_ERROR"

        /// Whether a text is short and upper case. The code is a metric label, so it must not be arbitrary text.
        private static func isCode(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }
    }

    /// One entry of `details`, by its `@type`.
    private struct Detail: Decodable {
        let errorCode: String?
        let reason: String?
        /// The fields of the request that Google finds wrong. An entry that names none is an empty text.
        let wrongFields: [String]

        private enum CodingKeys: String, CodingKey {
            case type = "@type"
            case errorCode, reason, fieldViolations
        }

        private struct Violation: Decodable {
            let field: String?
        }

        init(from decoder: any Decoder) throws {
            let container = try? decoder.container(keyedBy: CodingKeys.self)
            let type = (try? container?.decode(String.self, forKey: .type)) ?? ""
            errorCode = type.hasSuffix("fcm.v1.FcmError") ? try? container?.decode(String.self, forKey: .errorCode) : nil
            reason = type.hasSuffix("google.rpc.ErrorInfo") ? try? container?.decode(String.self, forKey: .reason) : nil
            let violations = (try? container?.decode([Violation].self, forKey: .fieldViolations)) ?? []
            wrongFields = type.hasSuffix("google.rpc.BadRequest") ? violations.map { $0.field ?? "" } : []
        }
    }
}
