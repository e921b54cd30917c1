import FoundationEssentials
import JSON
import Schemas
import Time

/// Subscribes phones to topics through Google's Instance ID service, like the Firebase Admin SDKs: FCM's newer API has no call
/// for many phones.
struct TopicManager: Sendable {
    /// The maximum number of changes of a project in a second (FCM, "Throttling and quotas").
    static let changesPerSecond = 3_000.0

    private let url: String
    private let api: AuthorizedPost
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://`, a host and an optional port.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(endpoint: String, api: AuthorizedPost, now: @escaping @Sendable () -> UnixMilliseconds) {
        url = "\(endpoint)/iid/v1:"
        self.api = api
        self.now = now
    }

    /// Changes the subscriptions of all phones in one call.
    ///
    /// - Returns: One result for each phone, in order; or why the whole call failed.
    func perform(
        _ change: TopicChange, _ phones: TopicPhones, by deadline: ContinuousClock.Instant
    ) async -> Result<[TopicResults.Result], SendFailure> {
        let call = Call(to: "/topics/\(phones.topicKey)", tokens: phones.tokens)
        guard let body = try? JSONCoder.encode(call) else { return .failure(.unwritable) }
        return await api.post(
            [body], to: url + change.method, headers: ["access_token_auth: true"], before: deadline, by: deadline
        ) { response in
            Self.read(response, count: phones.tokens.count, now: now())
        }[0]
    }

    /// Reads the service's answer: `{"results":[{},{"error":"NOT_FOUND"}]}`.
    static func read(
        _ response: HTTPTransportResponse, count: Int, now: UnixMilliseconds
    ) -> FCMAnswer<[TopicResults.Result]> {
        guard (200..<300).contains(response.status) else { return FCMAnswer(refusal: response, now: now) }
        guard let answer = try? JSONCoder.decode(Answer.self, from: response.body), answer.results.count == count else {
            return .refused(
                SendFailure(
                    DeliveryError(
                        .badAnswer, "the topic service answered \(response.status) without a result for each phone")))
        }
        return .accepted(answer.results.map { TopicResults.Result(error: $0.error.map(DeliveryError.init(topicError:))) })
    }

    private struct Call: Encodable {
        let to: String
        let tokens: [String]

        private enum CodingKeys: String, CodingKey {
            case to
            case tokens = "registration_tokens"
        }
    }

    private struct Answer: Decodable {
        struct Result: Decodable {
            let error: String?
        }

        let results: [Result]
    }
}

extension DeliveryError {
    /// The service's error for one phone.
    fileprivate init(topicError name: String) {
        let code = String(name.prefix(64))
        switch FCMVerdict(code: code) {
        case .permanent:
            self.init(class: .permanent, code: code, message: "the phone's subscription cannot be changed")
        case .retryable(let pause, _):
            self.init(
                class: .retryable, code: code, message: "the phone's subscription was not changed",
                retryAfter: Milliseconds(pause))
        case .tokenRefused, nil:
            self.init(class: .permanent, code: code, message: "the topic service gave an error that is not known")
        }
    }
}
