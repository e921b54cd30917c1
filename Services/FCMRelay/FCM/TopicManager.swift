import FoundationEssentials
import HTTPTransport
import Base
import Schemas

/// Subscribes phones to topics, and reads their topics, through Google's Instance ID service, like the Firebase Admin SDKs: FCM's
/// newer API has no call for many phones.
struct TopicManager: Sendable {
    /// The maximum number of changes of a project in a second (FCM, "Throttling and quotas").
    static let changesPerSecond = 3_000.0

    private let endpoint: String
    private let google: GoogleClient
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://`, a host and an optional port.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(endpoint: String, google: GoogleClient, now: @escaping @Sendable () -> UnixMilliseconds) {
        self.endpoint = endpoint
        self.google = google
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
        return await google.send(
            [body], to: "\(endpoint)/iid/v1:\(change.method)", headers: Self.headers, before: deadline, by: deadline
        ) { response in
            Self.read(response, count: phones.tokens.count, now: now())
        }[0]
    }

    /// Reads the topics of a phone.
    ///
    /// - Parameter token: A registration token. It becomes a part of the URL, so it has only the characters that ``ListTopics`` allows.
    /// - Returns: Their names, in no order; or why they could not be read. An unknown phone is a permanent failure.
    func topics(of token: String, by deadline: ContinuousClock.Instant) async -> Result<[String], SendFailure> {
        await google.send(
            [nil], to: "\(endpoint)/iid/info/\(token)?details=true", headers: Self.headers, before: deadline, by: deadline
        ) { response in
            guard (200..<300).contains(response.status) else { return FCMAnswer(refusal: response, now: now()) }
            guard let answer = try? JSONCoder.decode(Info.self, from: response.body) else {
                return .refused(
                    SendFailure(
                        DeliveryError(.badAnswer, "the topic service answered \(response.status) without the phone's topics")))
            }
            return .accepted(answer.rel?.topics.map { Array($0.keys) } ?? [])
        }[0]
    }

    private static let headers = ["access_token_auth: true"]

    /// `{"rel":{"topics":{"T":{"addDate":"2015-07-30"}}}}`; without topics, `rel` is missing.
    private struct Info: Decodable {
        struct Relations: Decodable {
            let topics: [String: Topic]?
        }

        struct Topic: Decodable {}

        let rel: Relations?
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

/// A change of phones' subscriptions to a topic.
enum TopicChange: Sendable {
    case subscribe, unsubscribe

    /// The method of the Instance ID service.
    var method: String {
        switch self {
        case .subscribe: "batchAdd"
        case .unsubscribe: "batchRemove"
        }
    }
}
