import FoundationEssentials
import JSON
import NIOHTTP1
import SeededRandom
import Synchronization
import TestSupport

/// A communicator who sends, edits and withdraws broadcasts. Each request is repeated until it is answered, so it may take effect several
/// times before its answer.
///
/// All broadcasts begin before the run, and last longer than the steps of the clock. So each one is active or withdrawn at the end.
final class BroadcastTraffic: Sendable {
    private struct State {
        var sent: [SentBroadcast] = []
        var surprises: [String] = []
        var isOver = false
    }

    /// In minutes: 300 days.
    private static let expiry: Int64 = 432_000
    /// Two days ago.
    private static let epoch = Date.now.addingTimeInterval(-2 * 86_400).formatted(
        Date.ISO8601FormatStyle(timeZoneSeparator: .omitted))
    /// The broadcast service keeps 200 active ones. Later requests only edit and withdraw.
    private static let maxSent = 150
    private static let pause = Duration.milliseconds(200)

    private let portal: Portal
    private let seed: UInt64
    private let retryTimeout: Duration
    private let state = Mutex(State())

    /// - Parameter retryTimeout: How long a request without an answer is repeated.
    init(portal: Portal, seed: UInt64, retryTimeout: Duration) {
        self.portal = portal
        self.seed = seed
        self.retryTimeout = retryTimeout
    }

    /// The accepted broadcasts, as the last answers have left them.
    var sent: [SentBroadcast] { state.withLock(\.sent) }
    /// Unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }

    /// Ends the traffic once the pending request is answered.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    func run(every period: Duration) async throws {
        var random = SeededGenerator(seed: seed)
        var number = 0
        while !state.withLock(\.isOver) {
            let open = sent.indices.filter { !sent[$0].isWithdrawn }
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1, 2: if let index = open.randomElement(using: &random) { try await edit(index, number) }
            case 3: if let index = open.randomElement(using: &random) { try await withdraw(index) }
            default: if sent.count < Self.maxSent { try await send(number, isRepeated: number.isMultiple(of: 4)) }
            }
            number += 1
            try await Task.sleep(for: period)
        }
    }

    private func send(_ number: Int, isRepeated: Bool) async throws {
        let title = "Broadcast \(number)"
        let headers = ["Idempotency-Key": "chaos-broadcast-\(number)"]
        let first = try await answer(.POST, "/broadcast", headers: headers, Self.body(title))
        guard first.status == 201, let id = try? first.json["id"]?.integer else { return surprised("\(first)") }
        state.withLock { $0.sent.append(SentBroadcast(id: id, title: title)) }
        guard isRepeated else { return }
        let second = try await answer(.POST, "/broadcast", headers: headers, Self.body(title))
        guard second.status == 201, try second.json["id"]?.integer == id else {
            return surprised("after \(first) the same broadcast was answered \(second)")
        }
    }

    private func edit(_ index: Int, _ number: Int) async throws {
        let title = "Broadcast \(number), edited"
        let answer = try await answer(.PUT, "/broadcast/\(sent[index].id)", Self.body(title))
        guard answer.status == 200 else { return surprised("\(answer)") }
        state.withLock { state in
            state.sent[index].title = title
            state.sent[index].edits += 1
        }
    }

    private func withdraw(_ index: Int) async throws {
        let answer = try await answer(.DELETE, "/broadcast/\(sent[index].id)")
        guard answer.status == 200 else { return surprised("\(answer)") }
        state.withLock { $0.sent[index].isWithdrawn = true }
    }

    private static func body(_ title: String) -> JSONValue {
        [
            "type": 2, "epoch": .string(epoch), "expiry": .integer(expiry),
            "actiondata": ["translations": ["en": ["title": .string(title), "msg": "m"]]],
        ]
    }

    /// The first answer that says what has happened. After a broken connection or a 503 that is unknown, and a full disk may have room
    /// later.
    private func answer(
        _ method: HTTPMethod, _ path: String, headers: [String: String] = [:], _ body: JSONValue? = nil
    ) async throws -> HTTPAnswer {
        let deadline = ContinuousClock.now + retryTimeout
        while true {
            if let answer = try? await portal.call(method, path, headers: headers, body) {
                guard [429, 503, 507].contains(answer.status) else { return answer }
                if answer.status == 503, answer["Retry-After"] == nil { surprised("\(answer), without Retry-After") }
            }
            guard ContinuousClock.now < deadline else { throw TooLate("\(method) \(path) was not answered") }
            try await Task.sleep(for: Self.pause)
        }
    }

    private func surprised(_ text: String) {
        state.withLock { $0.surprises.append(text) }
    }

    /// The log of the hub, once the push of each broadcast has ended, or the time is over.
    func settled(within limit: Duration) async throws -> [LoggedBroadcast] {
        let deadline = ContinuousClock.now + limit
        while true {
            let log = try await logged()
            if log.allSatisfy(\.isAtRest) || ContinuousClock.now >= deadline { return log }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func logged() async throws -> [LoggedBroadcast] {
        var broadcasts: [LoggedBroadcast] = []
        var next: String? = "/broadcast?limit=200"
        while let page = next {
            let answer = try await portal.call(.GET, page)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            for item in try answer.json["items"]?.array ?? [] {
                guard let id = item["id"]?.integer else { throw UnexpectedAnswer(answer) }
                // Only the answer about one broadcast has the state of its push.
                let broadcast = try await portal.call(.GET, "/broadcast/\(id)")
                guard broadcast.status == 200, let logged = try LoggedBroadcast(broadcast.json) else {
                    throw UnexpectedAnswer(broadcast)
                }
                broadcasts.append(logged)
            }
            next = try answer.json["next"]?.string
        }
        return broadcasts
    }
}
