import AsyncHTTPClient
import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import Synchronization
import TestSupport

/// Phones that ask the hub: for what they have missed, each from where it has read to, and to report what they have received.
final class PollingPhones: Sendable {
    /// The answers to the phones' requests.
    struct Answers: Codable {
        /// Of the requests that were not answered with 503.
        let latency: Latency
        let requests: Int
        /// 503: the hub has too much to do, and the phone asks later.
        let busy: Int
        /// No answer within 15 s.
        let unanswered: Int
        /// Bytes of the answers.
        let bytes: Int
        /// The share of the requests that were equal to one of the last 250 ms: their answers can be shared.
        let equal: Double
        /// The pages of first fetches among the requests.
        let pagesOfFirstFetches: Int
    }

    private struct Record {
        var times: [Double] = []
        var requests = 0
        var busy = 0
        var unanswered = 0
        var bytes = 0
        var equal = 0
        var pagesOfFirstFetches = 0
        var asked: [Data: ContinuousClock.Instant] = [:]
    }

    /// How long answers are shared.
    private static let sharing = Duration.milliseconds(250)
    private static let fullPage = 100
    private static let maxPages = 100

    let count: Int
    /// Has no sign-in, and its own connections.
    private let portal: Portal
    /// The topics of each phone.
    private let topics: [JSONValue]
    /// The position from which each phone fetches next.
    private let positions: Mutex<[String]>
    private let installations: [String]
    private let record = Mutex(Record())

    /// - Parameters:
    ///   - subscriptions: The sets of topics that the phones have.
    ///   - portal: Has no sign-in, and its own connections.
    private init(of count: Int, subscriptions: [[String]], portal: Portal) {
        self.count = count
        self.portal = portal
        topics = (0..<count).map { _ in .array((subscriptions.randomElement() ?? []).map { .string($0) }) }
        positions = Mutex(Array(repeating: "\(PageCursor(before: .now - 60_000))", count: count))
        installations = (0..<count).map { _ in "\(ObjectID())" }
    }

    /// Runs a body with polling phones. Like real ones they have many connections, and none of those that post.
    ///
    /// - Parameter subscriptions: The sets of topics that the phones have.
    static func with<Value>(
        _ count: Int, subscriptions: [[String]], at gateway: Portal, _ body: (PollingPhones) async throws -> Value
    ) async throws -> Value {
        try await PhoneConnections.with(at: gateway) { portal in
            try await body(PollingPhones(of: count, subscriptions: subscriptions, portal: portal))
        }
    }

    /// The answers since the last call.
    func answers() -> Answers {
        let record = record.withLock { record in
            defer { record = Record() }
            return record
        }
        return Answers(
            latency: Latency(record.times), requests: record.requests, busy: record.busy, unanswered: record.unanswered,
            bytes: record.bytes,
            equal: (Double(record.equal) / Double(max(1, record.requests))).twoDigits,
            pagesOfFirstFetches: record.pagesOfFirstFetches)
    }

    /// A phone fetches what it has missed, page by page. If the hub is busy, it continues another time.
    ///
    /// - Parameter isFirst: Whether the app is new, and has no position.
    func fetch(_ phone: Int, isFirst: Bool) async throws {
        var position = isFirst ? nil : positions.withLock { $0[phone] }
        for _ in 0..<Self.maxPages {
            var body: JSONValue = ["topics": topics[phone]]
            body["after"] = position.map { .string($0) }
            guard let answer = try await ask(phone, "/message/since", body, isFirst: isFirst) else { return }
            let page = try JSONValue(parsing: answer.body)
            guard let messages = page["messages"]?.elements, let next = page["next"]?.string else {
                throw UnexpectedAnswer(answer)
            }
            position = next
            positions.withLock { $0[phone] = next }
            if messages.count < Self.fullPage { return }
        }
    }

    /// A phone reports that messages have arrived.
    func report(_ phone: Int, number: Int, received: [String]) async throws {
        let body: JSONValue = [
            "installation": .string(installations[phone]), "report": .integer(Int64(number)),
            "received": .array(received.map { .string($0) }), "opened": [],
        ]
        _ = try await ask(phone, "/receipt", body)
    }

    /// - Returns: `nil` if the hub is busy, or does not answer in time.
    private func ask(_ phone: Int, _ path: String, _ body: JSONValue, isFirst: Bool = false) async throws -> HTTPAnswer? {
        let begin = ContinuousClock.now
        let data = body.data
        record.withLock { record in
            record.requests += 1
            if isFirst { record.pagesOfFirstFetches += 1 }
            if let last = record.asked[data], begin - last < Self.sharing {
                record.equal += 1
            } else {
                record.asked[data] = begin
            }
        }
        let answer: HTTPAnswer
        do {
            answer = try await portal.call(.POST, path, headers: PhoneConnections.address(of: phone), body)
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            record.withLock { $0.unanswered += 1 }
            return nil
        }
        guard answer.status != 503 else {
            record.withLock { $0.busy += 1 }
            return nil
        }
        guard (200..<300).contains(answer.status) else { throw UnexpectedAnswer(answer) }
        record.withLock { record in
            record.times.append((ContinuousClock.now - begin) / .milliseconds(1))
            record.bytes += answer.body.count
        }
        return answer
    }
}
