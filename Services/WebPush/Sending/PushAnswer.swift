import Base
import FoundationEssentials
import HTTPTransport
import Schemas

/// The meaning of a push service's answer to a request, or of the lack of one.
struct PushAnswer: Hashable, Sendable {
    /// What it says about the service.
    enum Lesson: Hashable, Sendable {
        /// The service takes pushes.
        case accepted
        /// The service works; the push or its subscription does not.
        case answered
        /// The service asks for a pause, with its length if it names one.
        case throttled(Milliseconds?)
        /// The service or the connection to it fails.
        case failed(DeliveryError)
        /// The service refuses the hub's pushes, with the reason: the operator has to correct something.
        case refused(String)
        /// Nothing.
        case inconclusive
    }

    let result: Result<String, WebPushFailure>
    let lesson: Lesson

    /// Whether it is about one subscription, which has ended or is sent a push that is too long. It says nothing about the pushes to others.
    var isAboutSubscription: Bool {
        guard case .failure(let failure) = result, lesson == .answered else { return false }
        return [.unregistered, .payloadTooLarge].contains(failure.error.catalogued)
    }

    /// What the operator sees of it; `nil` if the push was accepted.
    var error: String? {
        if case .failure(let failure) = result { "\(failure)" } else { nil }
    }

    /// The wait before a retry if a failing service names none.
    private static let pauseAfterFailure: Milliseconds = 10_000
    /// The wait if a service that has had too much names none.
    private static let pauseAfterTooMuch: Milliseconds = 30_000
    /// A longer word may be a secret. Push services' secrets have 100 characters and more, their error codes less than this.
    private static let maxWordLength = 32
    /// A longer `Location` is not the name of a push.
    private static let maxNameLength = 500

    private init(_ error: DeliveryError, _ lesson: Lesson, _ consequence: WebPushFailure.Consequence = .none) {
        result = .failure(WebPushFailure(error, consequence))
        self.lesson = lesson
    }

    private init(name: String) {
        result = .success(name)
        lesson = .accepted
    }

    /// - Parameters:
    ///   - isProven: Whether the subscription has proven itself.
    ///   - time: How long the transport had the request.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(_ outcome: HTTPTransportOutcome, isProven: Bool, after time: Duration, now: @autoclosure () -> UnixMilliseconds) {
        switch outcome {
        case .success(let response): self.init(response, isProven: isProven, now: now())
        case .failure(let error): self.init(error, after: time)
        }
    }

    private init(_ response: HTTPTransportResponse, isProven: Bool, now: UnixMilliseconds) {
        let code = "HTTP_\(response.status)"
        let words = Self.words(of: response)
        switch response.status {
        case 200..<300:
            let location = response.location.flatMap { (1...Self.maxNameLength).contains($0.utf8.count) ? $0 : nil }
            self.init(name: location ?? code)
        case 404, 410:
            self.init(DeliveryError(.unregistered, "the subscription has ended\(words)"), .answered, .gone)
        case 413:
            self.init(DeliveryError(.payloadTooLarge, "the push service refuses the push's length\(words)"), .answered)
        case 400, 401, 403:
            let message = "the push service refuses the push with \(response.status)\(words)"
            if isProven {
                self.init(DeliveryError(class: .retryable, code: code, message: message), .refused(message))
            } else {
                self.init(DeliveryError(class: .permanent, code: code, message: message), .answered, .unusable)
            }
        case 429:
            let pause = Self.retryAfter(of: response, now: now)
            self.init(
                DeliveryError(
                    class: .retryable, code: code, message: "the push service has had too many pushes\(words)",
                    retryAfter: pause ?? Self.pauseAfterTooMuch),
                .throttled(pause))
        case 408, 500..<600:
            let pause = Self.retryAfter(of: response, now: now)
            let error = DeliveryError(
                class: .retryable, code: code, message: "the push service has failed with \(response.status)\(words)",
                retryAfter: pause ?? Self.pauseAfterFailure)
            // Only a service that works says when it will take more.
            self.init(error, pause == nil ? .failed(error) : .throttled(pause))
        case 300..<400:
            self.init(
                DeliveryError(
                    class: .permanent, code: code, message: "the push service redirects the push, which is not followed"),
                .answered)
        case 402..<500:
            let message = "the push service refuses the push with \(response.status)\(words)"
            self.init(DeliveryError(class: .permanent, code: code, message: message), .answered)
        default:
            let error = DeliveryError(.badAnswer, "the push service answered \(response.status)\(words)")
            self.init(error, .failed(error))
        }
    }

    /// No answer. A timeout counts against the service only after half a second, or after five seconds if the request was not sent: then it
    /// may have queued behind others.
    private init(_ failure: TransportError, after time: Duration) {
        let consequence = failure.mayHaveBeenProcessed ? "; the push service may have accepted the push" : ""
        let message = failure.description + consequence
        switch failure.code {
        case .notReachable, .reset, .other:
            self.init(failed: DeliveryError(.network, message))
        case .tls:
            self.init(failed: DeliveryError(.tls, message))
        case .refusedAddress:
            self.init(
                failed: DeliveryError(
                    class: .retryable, code: "REFUSED_ADDRESS", message: message, retryAfter: Self.pauseAfterFailure))
        case .timeout:
            let error = DeliveryError(.timeout, message)
            let hadTime = time >= .milliseconds(failure.mayHaveBeenProcessed ? 500 : 5_000)
            self.init(error, hadTime ? .failed(error) : .inconclusive)
        case .tooLarge:
            self.init(DeliveryError(.badAnswer, message), .answered)
        case .overloaded:
            self.init(DeliveryError(.overloaded, message), .inconclusive)
        case .cancelled, .stopped:
            self.init(DeliveryError(.stopping, message), .inconclusive)
        }
    }

    private init(failed error: DeliveryError) {
        self.init(error, .failed(error))
    }

    private static func retryAfter(of response: HTTPTransportResponse, now: UnixMilliseconds) -> Milliseconds? {
        response.retryAfter.flatMap { RetryAfter(header: $0, now: now) }?.time
    }

    /// The beginning of the answer's body, for the operator. Some services repeat the endpoint: its secret part is left out.
    private static func words(of response: HTTPTransportResponse) -> String {
        let text = String(decoding: response.body.prefix(200), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        return text.isEmpty ? "" : ": \(withoutSecrets(text).prefix(120))"
    }

    /// A text with "…" in place of everything that is as long as an endpoint's secret part.
    private static func withoutSecrets(_ text: String) -> String {
        var result = ""
        var run = ""
        for character in text {
            if character.isPartOfSecret {
                run.append(character)
            } else {
                result += (run.count > maxWordLength ? "…" : run) + String(character)
                run = ""
            }
        }
        return result + (run.count > maxWordLength ? "…" : run)
    }
}

extension Character {
    /// Whether an endpoint's secret part may have it.
    fileprivate var isPartOfSecret: Bool { isASCII && (isLetter || isNumber || "-_:%=.~+".contains(self)) }
}
