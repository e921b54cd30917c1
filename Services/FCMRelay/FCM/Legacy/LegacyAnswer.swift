import FoundationEssentials
import JSON
import Schemas
import Time

extension FCMAnswer<String> {
    /// Reads the legacy API's answer to one message: `{"message_id":…}` or `{"error":"…"}` for a topic. For a phone the same is
    /// in `results`.
    static func classifyLegacy(_ response: HTTPTransportResponse, now: UnixMilliseconds) -> FCMAnswer {
        guard (200..<300).contains(response.status) else {
            // A refused key is retryable: an operator can correct it, though not within a minute.
            switch FCMAnswer(refusal: response, now: now) {
            case .tokenRefused(let failure):
                var error = failure.error
                error.retryAfter = 60_000
                return .refused(SendFailure(error, scope: failure.scope))
            case let answer: return answer
            }
        }
        guard let body = try? JSONCoder.decode(LegacyBody.self, from: response.body) else { return .nothingKnown(response) }
        let result = body.results?.first ?? body.result
        let retryAfter = response.retryAfter.flatMap { RetryAfter(header: $0, now: now) }?.time
        if let error = result.error { return .refused(SendFailure(legacyError: error, retryAfter: retryAfter)) }
        return result.name.map { .accepted($0) } ?? .nothingKnown(response)
    }

    private static func nothingKnown(_ response: HTTPTransportResponse) -> FCMAnswer {
        .refused(
            SendFailure(
                DeliveryError(
                    .badAnswer, "FCM answered \(response.status) without an id for the message; it may have accepted it")))
    }
}

extension SendFailure {
    /// The failure for an error name of the legacy API.
    fileprivate init(legacyError name: String, retryAfter: Milliseconds?) {
        let (pause, scope): (Milliseconds, Scope)
        switch name {
        case "Unavailable", "InternalServerError": (pause, scope) = (10_000, .service)
        case "TopicsMessageRateExceeded": (pause, scope) = (60_000, .topic)
        case "DeviceMessageRateExceeded": (pause, scope) = (60_000, .message)
        default:
            // The name is a metric label, so it must not be arbitrary text.
            guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isLetter }) else {
                self.init(DeliveryError(.badAnswer, "FCM's legacy API answered with an error without a name"))
                return
            }
            // All others are about the message or its target, and are permanent.
            self.init(DeliveryError(class: .permanent, code: name, message: "FCM's legacy API refused it"))
            return
        }
        self.init(
            DeliveryError(
                class: .retryable, code: name, message: "FCM's legacy API put it off", retryAfter: retryAfter ?? pause),
            scope: scope)
    }
}

private struct LegacyBody: Decodable {
    struct Result: Decodable {
        let name: String?
        let error: String?

        private enum CodingKeys: String, CodingKey {
            case error
            case id = "message_id"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            error = try container.decodeIfPresent(String.self, forKey: .error)
            // The id is a number for a topic, and a text for a phone.
            let number = try? container.decodeIfPresent(Int64.self, forKey: .id)
            let text = try? container.decodeIfPresent(String.self, forKey: .id)
            name = number.map { String($0) } ?? text.flatMap { (1...500).contains($0.utf8.count) ? $0 : nil }
        }
    }

    let result: Result
    let results: [Result]?

    private enum CodingKeys: CodingKey {
        case results
    }

    init(from decoder: any Decoder) throws {
        results = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent([Result].self, forKey: .results)
        result = try Result(from: decoder)
    }
}
