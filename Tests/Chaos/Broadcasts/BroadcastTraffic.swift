import FoundationEssentials
import Base
import NIOHTTP1
import Synchronization
import TestSupport

/// A communicator who sends, edits, moves and withdraws broadcasts, and switches a feature. Each request is repeated until it is answered,
/// so it may take effect several times before its answer.
///
/// The broadcasts of the run begin before it, and last longer than the steps of the clock. So each one is active or withdrawn at the end.
/// Some of those that are sent before the first fault expire while the faults last.
final class BroadcastTraffic: Sendable {
    private struct State {
        var sent: [SentBroadcast] = []
        var surprises: [String] = []
        var isOver = false
    }

    /// In minutes: 300 days.
    private static let expiry: Int64 = 432_000
    /// How long those last that expire during the run, in milliseconds.
    private static let shortLifetimes: [Int64] = [10_000, 20_000, 30_000]
    /// Two days ago.
    private static let epoch = Date.now.addingTimeInterval(-2 * 86_400).formatted(
        Date.ISO8601FormatStyle(timeZoneSeparator: .omitted))
    /// The broadcast service keeps 200 active ones. Later requests only edit and withdraw.
    private static let maxSent = 150
    /// The percentage of the phones for which the feature is on.
    private static let share: Int64 = 50

    private let portal: Portal
    private let seed: UInt64
    /// The id of a channel of which no phone follows anything.
    private let elsewhere: String
    private let retryTimeout: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - elsewhere: The id of a channel of which no phone follows anything.
    ///   - retryTimeout: How long a request without an answer is repeated.
    init(portal: Portal, seed: UInt64, elsewhere: String, retryTimeout: Duration) {
        self.portal = portal
        self.seed = seed
        self.elsewhere = elsewhere
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

    /// Sends one that is there before any phone.
    func sendEarly() async throws {
        try await send("Early", Self.card("Early"))
    }

    /// Switches the feature for the first time, and sends those that expire during the run: some are sent so, some edited.
    func begin() async throws {
        try await sendSwitch("first")
        for (number, lifetime) in Self.shortLifetimes.enumerated() {
            let title = "Short \(number)"
            let short = Self.card(title, lifetime: lifetime)
            let isEdited = number == 0
            try await send(title, isEdited ? Self.card(title) : short, isShort: !isEdited)
            if isEdited { try await edit(sent.count - 1, short) { $0.isShort = true } }
        }
    }

    func run(every period: Duration) async throws {
        var random = SeededGenerator(seed: seed)
        var number = 0
        while !state.withLock(\.isOver) {
            let open = sent.indices.filter { sent[$0].isShown }
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2: if let index = open.randomElement(using: &random) { try await edit(index, number) }
            case 3: if let index = open.randomElement(using: &random) { try await withdraw(index) }
            case 4: if let index = open.randomElement(using: &random) { try await move(index) }
            case 5: if sent.count < Self.maxSent { try await sendSwitch("\(number)") }
            default:
                if sent.count < Self.maxSent {
                    try await send("\(number)", Self.card("Broadcast \(number)"), isRepeated: number.isMultiple(of: 4))
                }
            }
            number += 1
            try await sleep(until: .now + period, unless: { state.withLock(\.isOver) })
        }
        try await sendSwitch("last")
    }

    private func sendSwitch(_ key: String) async throws {
        let data: JSONValue = [
            "notificationtype": "enable-feature", "feature": .string(SentBroadcast.feature), "share": .integer(Self.share),
        ]
        try await send(
            "switch-\(key)", ["type": 4, "epoch": .string(Self.epoch), "expiry": .integer(Self.expiry), "actiondata": data])
    }

    private func send(_ key: String, _ body: JSONValue, isShort: Bool = false, isRepeated: Bool = false) async throws {
        let headers = ["Idempotency-Key": "chaos-broadcast-\(key)"]
        let first = try await answer(.POST, "/broadcast", headers: headers, body)
        guard first.status == 201, let id = try? first.json["id"]?.integer else { return surprised("\(first)") }
        let title = body["actiondata"]?["translations"]?["en"]?["title"]?.string
        state.withLock {
            $0.sent.append(
                SentBroadcast(
                    id: id, title: title ?? SentBroadcast.feature, kind: title == nil ? .featureSwitch : .card, isShort: isShort))
        }
        guard isRepeated else { return }
        let second = try await answer(.POST, "/broadcast", headers: headers, body)
        guard second.status == 201, try second.json["id"]?.integer == id else {
            return surprised("after \(first) the same broadcast was answered \(second)")
        }
    }

    private func edit(_ index: Int, _ number: Int) async throws {
        let title = "Broadcast \(number), edited"
        try await edit(index, Self.card(title)) { $0.title = title }
    }

    private func move(_ index: Int) async throws {
        var body = Self.card(sent[index].title)
        body["channels"] = [.string(elsewhere)]
        try await edit(index, body) { $0.isMoved = true }
    }

    private func edit(_ index: Int, _ body: JSONValue, _ change: (inout SentBroadcast) -> Void) async throws {
        let answer = try await answer(.PUT, "/broadcast/\(sent[index].id)", body)
        guard answer.status == 200 else { return surprised("\(answer)") }
        state.withLock { state in
            change(&state.sent[index])
            state.sent[index].edits += 1
        }
    }

    private func withdraw(_ index: Int) async throws {
        let answer = try await answer(.DELETE, "/broadcast/\(sent[index].id)")
        guard answer.status == 200 else { return surprised("\(answer)") }
        state.withLock { $0.sent[index].isWithdrawn = true }
    }

    /// - Parameter lifetime: For one that begins now and soon expires, in milliseconds.
    private static func card(_ title: String, lifetime: Int64? = nil) -> JSONValue {
        var body: JSONValue = ["type": 2, "actiondata": ["translations": ["en": ["title": .string(title), "msg": "m"]]]]
        if let lifetime {
            body["lifetime"] = .integer(lifetime)
        } else {
            body["epoch"] = .string(epoch)
            body["expiry"] = .integer(expiry)
        }
        return body
    }

    private func answer(
        _ method: HTTPMethod, _ path: String, headers: [String: String] = [:], _ body: JSONValue? = nil
    ) async throws -> HTTPAnswer {
        try await portal.definiteAnswer(method, path, headers: headers, body, within: retryTimeout, surprised: surprised)
    }

    private func surprised(_ text: String) {
        state.withLock { $0.surprises.append(text) }
    }

    /// The log of the hub, once the push of each broadcast has ended and the short ones have expired, or the time is over.
    func settled(within limit: Duration) async throws -> [LoggedBroadcast] {
        let deadline = ContinuousClock.now + limit
        let short = Set(sent.lazy.filter(\.isShort).map(\.id))
        while true {
            let log = try await logged()
            if log.allSatisfy({ $0.isAtRest && (!short.contains($0.id) || $0.state == "expired") })
                || ContinuousClock.now >= deadline
            {
                return log
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func logged() async throws -> [LoggedBroadcast] {
        var broadcasts: [LoggedBroadcast] = []
        for item in try await portal.all("items", at: "/broadcast?limit=200") {
            // Only the answer about one broadcast has the state of its push.
            let broadcast = try await portal.call(.GET, "/broadcast/\(item["id"]?.integer ?? 0)")
            guard broadcast.status == 200, let logged = try LoggedBroadcast(broadcast.json) else {
                throw UnexpectedAnswer(broadcast)
            }
            broadcasts.append(logged)
        }
        return broadcasts
    }
}
