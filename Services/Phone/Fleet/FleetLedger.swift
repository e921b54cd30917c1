import FoundationEssentials
import Histogram
import Base
import MobileApp
import NIOHTTP1
import Synchronization

/// What the phones of a fleet have received, counted outside their apps.
final class FleetLedger: Sendable {
    private struct State {
        /// By phone: the received messages, and how often.
        var received: [[String: Int]]
        /// For each phone, the `msi_key`s of the Alerts that it removed because they were recalled.
        var recalled: [Set<String>]
        var latencies = Histogram<UInt64>(highestTrackableValue: 3_600_000, numberOfSignificantValueDigits: .three)
        var counted: UInt64 = 0
        /// On how many steady phones each message is, until it is on all of them.
        var reached: [String: Int] = [:]
        /// The steady phones that got a message from FCM when they already had it, by `msi_key`.
        var pushedLater: [String: Set<Int>] = [:]
        /// When every steady phone was ready, in Unix milliseconds.
        var ready = Int64.max
    }

    private let state: Mutex<State>

    private let steady: Int

    /// - Parameter steady: How many of the phones are not disturbed.
    init(count: Int, steady: Int) {
        self.steady = steady
        state = Mutex(State(received: Array(repeating: [:], count: count), recalled: Array(repeating: [], count: count)))
    }

    /// A phone's app has added a message.
    ///
    /// - Returns: Whether the message is now on every steady phone, and was posted since the fleet was ready.
    func note(_ message: StoredMessage, on phone: Int, isSteady: Bool, now: Int64) -> Bool {
        state.withLock { state in
            let times = state.received[phone][message.msiKey, default: 0] + 1
            state.received[phone][message.msiKey] = times
            guard isSteady, message.timestamp >= state.ready else { return false }
            state.latencies.record(UInt64(clamping: max(0, now - message.timestamp)))
            state.counted += 1
            guard times == 1 else { return false }
            let reached = state.reached[message.msiKey, default: 0] + 1
            state.reached[message.msiKey] = reached == steady ? nil : reached
            return reached == steady
        }
    }

    /// A phone gets a message from FCM. Its app may already have the message.
    ///
    /// - Returns: Whether every steady phone has now got it from FCM when it already had it.
    func notePushed(_ msiKey: String, on phone: Int, isSteady: Bool) -> Bool {
        state.withLock { state in
            guard isSteady, state.received[phone][msiKey] != nil,
                state.pushedLater[msiKey, default: []].insert(phone).inserted
            else { return false }
            return state.pushedLater[msiKey]?.count == steady
        }
    }

    /// A phone's app has removed an Alert that was recalled.
    func noteRecalled(_ message: StoredMessage, on phone: Int) {
        state.withLock { _ = $0.recalled[phone].insert(message.msiKey) }
    }

    func hasRecalled(_ msiKey: String, on phone: Int) -> Bool { state.withLock { $0.recalled[phone].contains(msiKey) } }

    /// How many phones have removed each recalled Alert, by `msi_key`.
    var recalled: [String: Int] {
        state.withLock { state in state.recalled.joined().reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }

    func isReady(at now: Int64) {
        state.withLock { $0.ready = now }
    }

    /// How often a phone has received each message.
    func received(on phone: Int) -> [String: Int] { state.withLock { $0.received[phone] } }

    /// On how many phones each received message is, by `msi_key`.
    var phones: [String: Int] {
        state.withLock { state in
            state.received.reduce(into: [:]) { phones, received in
                for key in received.keys { phones[key, default: 0] += 1 }
            }
        }
    }

    /// A percentile of the latencies in milliseconds; `nil` without any.
    func latency(_ percentile: Double) -> Double? {
        state.withLock { $0.counted == 0 ? nil : Double($0.latencies.valueAtPercentile(percentile)) }
    }
}

/// What a fleet has received.
struct FleetReport: Encodable, Hashable, Sendable {
    let phones: Int
    /// The sum over all phones of the messages since the fleet's start to the topics that the phone is subscribed to at the end: those
    /// whose data FCM has accepted, and waiting Alerts, which phones fetch. A phone that joins late fetches earlier messages.
    let expected: Int
    /// Those of ``expected`` that the phones have.
    let delivered: Int
    /// How often an app has added a message that it already had.
    let doubled: Int
    /// Those of ``expected`` that the phones do not have.
    let missing: Int
    /// The time from a message's `timestamp` to its place in the phone's list, over the steady phones and the messages since the
    /// fleet was ready, in milliseconds; `nil` without such a message.
    let p50: Double?
    let p99: Double?
    /// The time until the slowest message was on the last phone.
    let max: Double?
    /// What the persons have seen; `nil` for a fleet without accounts.
    let persons: PersonReport?

    private enum CodingKeys: String, CodingKey {
        case phones, expected, delivered, doubled, missing, persons
        case p50 = "p50_ms"
        case p99 = "p99_ms"
        case max = "max_ms"
    }

    /// The report as one line of JSON.
    var line: String {
        get throws { String(decoding: try JSONCoder.encode(self), as: UTF8.self) }
    }
}

/// Asks the hub which messages phones should have (`POST /message/since`): those whose data FCM has accepted, and the Alerts that
/// phones fetch without FCM.
struct ExpectedMessages: Sendable {
    let gateway: String
    let hub: Network

    private static let maxTopics = 800
    private static let fullPage = 100

    /// The keys of the messages by topic, and those of recalled Alerts.
    typealias Keys = (messages: [String: Set<String>], recalled: Set<String>)

    /// - Parameter start: Earlier messages are left out. In Unix milliseconds.
    func read(_ topics: Set<String>, since start: Int64) async throws -> Keys {
        var found: Keys = ([:], [])
        var rest = topics.sorted()[...]
        while !rest.isEmpty {
            try await read(Array(rest.prefix(Self.maxTopics)), since: start, into: &found)
            rest = rest.dropFirst(Self.maxTopics)
        }
        return found
    }

    private func read(_ topics: [String], since start: Int64, into found: inout Keys) async throws {
        // FCM accepts a message after its post, so earlier positions are irrelevant.
        var position = "\(start)-000000000000000000000000"
        while true {
            let body: JSONValue = ["topics": .array(topics.map { .string($0) }), "after": .string(position)]
            let answer = try await hub.answer(.POST, gateway + "/message/since", body: body.data)
            guard answer.status == 200 else { throw Network.Failure(description: "/message/since answers \(answer.status)") }
            let page = try JSONValue(parsing: answer.body)
            guard let messages = page["messages"]?.elements, let next = page["next"]?.string else {
                throw Network.Failure(description: "/message/since has no messages")
            }
            for message in messages + (page["waiting"]?.elements ?? []) {
                guard let topic = message["topic_key"]?.string, let key = message["msi_key"]?.string,
                    let timestamp = message["timestamp"]?.integer, timestamp >= start
                else { continue }
                found.messages[topic, default: []].insert(key)
            }
            found.recalled.formUnion(page["recalled"]?.elements?.compactMap(\.string) ?? [])
            if messages.count < Self.fullPage { return }
            position = next
        }
    }
}
