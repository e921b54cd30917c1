import Base
import NIOHTTP1
import TestSupport

extension Portal {
    /// Repeats a request until an answer says what has happened. After a broken connection or a 503 that is unknown, and a full disk may
    /// have room later.
    ///
    /// - Parameters:
    ///   - retryTimeout: How long it is repeated.
    ///   - surprised: Called for a 503 without `Retry-After`.
    func definiteAnswer(
        _ method: HTTPMethod, _ path: String, headers: [String: String] = [:], _ body: JSONValue? = nil,
        within retryTimeout: Duration, surprised: (String) -> Void
    ) async throws -> HTTPAnswer {
        var backoff = Backoff.ofCallers(for: retryTimeout)
        while true {
            if let answer = try? await call(method, path, headers: headers, body) {
                guard [429, 503, 507].contains(answer.status) else { return answer }
                if answer.status == 503, answer["Retry-After"] == nil { surprised("\(answer), without Retry-After") }
            }
            guard let pause = backoff.nextPause() else { throw TooLate("\(method) \(path) was not answered") }
            try await Task.sleep(for: pause)
        }
    }
}
