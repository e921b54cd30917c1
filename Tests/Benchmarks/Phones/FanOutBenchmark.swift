import FoundationEssentials
import Archive
import Base
import NIOHTTP1
import Schemas
import TestSupport

/// Measures when an Alert reaches the last of 40,000 phones on one topic, while FCM's emulator delivers at FCM's fan-out rate.
///
/// The hub knows how many phones the topic has: they have reported an earlier message.
struct FanOutBenchmark {
    private struct Figures: Codable {
        var benchmark = "fan-out"
        let phones: Int
        /// FCM's deliveries a second.
        let rate: Int
        /// Until all phones had registered and subscribed, in seconds.
        let setUp: Double
        let loads: [Load]
    }

    /// Alerts that are posted at once. Times are seconds from an Alert's 201, of the Alert that took longest; medians of the rounds.
    private struct Load: Codable {
        let name: String
        let alerts: Int
        /// Until the pop-up is on the last phone.
        let popUp: Double
        /// Until the data is.
        let data: Double
        /// What FCM's rate leaves if the pop-ups of all Alerts are delivered before the data.
        let popUpLimit: Double
        let dataLimit: Double
    }

    /// The number of phones that register at a time.
    private static let concurrency = 64
    /// The number of phones that one request subscribes.
    private static let batch = 1_000
    /// Several times what the rate allows.
    private static let timeout = Duration.seconds(300)

    let scale: Scale
    let folder: String

    private var phones: Int { scale.pick(40_000, smoke: 40) }
    /// With the phones of a smoke test, a fan-out is long enough for data to wait as well.
    private var rate: Int { scale.pick(10_000, smoke: 80) }
    private var rounds: Int { scale.pick(3, smoke: 1) }

    func run() async throws {
        let figures = try await MessageStack.with(
            database: nil, messageLog: ["MSI_FCM_FANOUT_RATE": "\(rate)"], in: folder + "/product"
        ) { try await measure($0) }
        show(figures)
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: MessageStack) async throws -> Figures {
        guard let emulator = stack.emulator else { throw PeerFailure(description: "phones need the FCM emulator") }
        let subject = try await stack.portal.makeSubject("Alert", level: "Forced")
        try await storeReceipts(of: subject)
        let begin = ContinuousClock.now
        try await subscribePhones(phones - 1, to: subject.topicKey, at: emulator)
        // The emulator delivers in the order of registration, so this phone is the last one.
        return try await BenchmarkPhone.with(topics: [subject.topicKey], at: emulator) { last in
            let setUp = (ContinuousClock.now - begin) / .seconds(1)
            let limit = try await emulator.call(
                .PUT, "/emulator/fanout", body: Data(#"{"deliveries_per_s":\#(rate)}"#.utf8))
            guard limit.status == 200 else { throw UnexpectedAnswer(limit) }
            let loads = [("one Alert", 1), ("five at once", 5)]
            var times = loads.map { _ in (popUps: [Double](), data: [Double]()) }
            for _ in 0..<rounds {
                for (index, load) in loads.enumerated() {
                    let (popUp, data) = try await post(load.1, to: subject, stack.portal, last)
                    times[index].popUps.append(popUp)
                    times[index].data.append(data)
                }
            }
            return Figures(
                phones: phones, rate: rate, setUp: setUp.twoDigits,
                loads: zip(loads, times).map { load, times in
                    let limit = Double(load.1 * phones) / Double(rate)
                    return Load(
                        name: load.0, alerts: load.1, popUp: times.popUps.median.twoDigits, data: times.data.median.twoDigits,
                        popUpLimit: limit.twoDigits, dataLimit: (2 * limit).twoDigits)
                })
        }
    }

    private func show(_ figures: Figures) {
        say(
            "\(figures.phones) phones on one topic, set up in \(figures.setUp) s, at \(figures.rate) deliveries a second: seconds from "
                + "the 201 to the last phone")
        say(Table.row("", "pop-up", "limit", "data", "limit"))
        for load in figures.loads {
            say(Table.row(load.name, "\(load.popUp)", "\(load.popUpLimit)", "\(load.data)", "\(load.dataLimit)"))
        }
    }

    /// Posts Alerts at once, and waits until the phone has them.
    ///
    /// - Returns: The times of the Alert that took longest, in seconds.
    private func post(
        _ count: Int, to subject: SubjectPath, _ portal: Portal, _ phone: BenchmarkPhone
    ) async throws -> (popUp: Double, data: Double) {
        let posts: [(key: String, answered: UInt64)] = try await withThrowingTaskGroup(of: (key: String, answered: UInt64).self) {
            group in
            for _ in 0..<count {
                group.addTask { (try await portal.accepted(subject.message()), MonotonicClock.nanoseconds) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var (popUp, data) = (0.0, 0.0)
        for (key, answered) in posts {
            let arrivals = try await eventually("the last phone has \(key)", within: Self.timeout) { phone.arrivals(of: key) }
            popUp = max(popUp, (Double(arrivals.notification) - Double(answered)) / 1e9)
            data = max(data, (Double(arrivals.data) - Double(answered)) / 1e9)
        }
        return (popUp, data)
    }

    /// Inserts an earlier Alert, which all phones have reported, into the archive beside the message log.
    private func storeReceipts(of subject: SubjectPath) async throws {
        guard let topic = TopicKey(subject.topicKey) else { throw PeerFailure(description: "no topic: \(subject.topicKey)") }
        let time = UnixMilliseconds.now - .seconds(3_600)
        let message = Message(
            msiKey: ObjectID(),
            content: MessageContent(
                title: "Closed today", desc: "The library", message: "The library stays closed.", topicKey: topic,
                distribution: .alert),
            sender: "Communicator", timestamp: time, names: CubeNames(channel: "Campus", area: "Library", subject: "Hours"),
            expires: time + .seconds(86_400),
            relay: RelayRecord(
                state: .relayed, attempts: 1, nextAttempt: nil, ended: time + 20, accepted: time + 20,
                components: [.notification, .data].map {
                    ComponentRecord(component: $0, state: .accepted, name: "projects/p/messages/0:1")
                }))
        let store = try SQLiteMessageStore(path: folder + "/product/message-log.sqlite")
        _ = try await store.insert(message, audit: nil)
        try await store.set([message.msiKey: MessageReceipts(received: Int64(phones), opened: 0)])
        try await store.close()
    }

    /// Registers phones without a stream, and subscribes them.
    private func subscribePhones(_ count: Int, to topic: String, at emulator: FCMServer) async throws {
        let tokens: [String] = try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 0..<Self.concurrency {
                group.addTask {
                    var tokens: [String] = []
                    for _ in stride(from: worker, to: count, by: Self.concurrency) {
                        let answer = try await emulator.call(.POST, "/emulator/devices")
                        guard answer.status == 201, let token = try answer.json["token"]?.string else {
                            throw UnexpectedAnswer(answer)
                        }
                        tokens.append(token)
                    }
                    return tokens
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for start in stride(from: 0, to: tokens.count, by: Self.batch) {
            try await emulator.subscribe(Array(tokens[start..<min(start + Self.batch, tokens.count)]), to: topic)
        }
    }
}
