import AsyncHTTPClient
import Base
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Schemas
import TestSupport
import WebPushKeys

/// Subscriptions a second through the gateway, each with the first push to a sink. Compared with the syncs a second of the disk,
/// since each subscription is durable when it is answered.
struct SubscribeBenchmark {
    private static let rounds = 3
    private static let clients = 64
    /// All rounds together stay below the number of subscriptions of one push service that may be unproven.
    private static let subscriptions = 1_500
    private static let syncSeconds = 3.0

    let folder: String

    private struct Figures: Encodable {
        let benchmark = "subscribe"
        let clients = SubscribeBenchmark.clients
        /// Subscriptions a second.
        let rate: Double
        /// From a request until its answer, in milliseconds.
        let latency: Latency
        /// The disk alone: syncs a second.
        let syncs: Double
        let ratioToSyncs: Double
        /// The product's microseconds of processor time for each.
        let processorTime: Double
    }

    private struct Round {
        let rate: Double
        let latency: Latency
        let processorTime: Double
        let syncs: Double
    }

    func run() async throws {
        say(
            "subscriptions a second by \(Self.clients) clients (median of \(Self.rounds) rounds, in turns with the disk), "
                + "and milliseconds")
        let sinkFolder = try RunningLog.makeState("sink", in: folder)
        let state = try RunningLog.makeState(in: folder)
        let figures = try await Sink.with(.immediate, in: sinkFolder) { sink in
            try await WebPushStack.with(sink: sink, in: state) { stack in
                let topic = try await stack.portal.makeSubject("Alert").topicKey
                let bodies = (0..<(Self.subscriptions * Self.rounds)).map { Self.body($0, at: sink, topic: topic) }
                var rounds: [Round] = []
                say(Table.row("rate", "p50", "p99", "µs", "syncs/s"))
                for number in 0..<Self.rounds {
                    let first = number * Self.subscriptions
                    let round = try await measure(Array(bodies[first..<(first + Self.subscriptions)]), first: first, at: stack)
                    say(
                        Table.row(
                            "\(Int(round.rate))", "\(round.latency.p50)", "\(round.latency.p99)",
                            "\(round.processorTime.twoDigits)", "\(Int(round.syncs))"))
                    rounds.append(round)
                }
                let (rate, syncs) = (rounds.map(\.rate).median, rounds.map(\.syncs).median)
                return Figures(
                    rate: rate.rounded(), latency: .median(rounds.map(\.latency)), syncs: syncs.rounded(),
                    ratioToSyncs: (rate / syncs).twoDigits, processorTime: rounds.map(\.processorTime).median.twoDigits)
            }
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ bodies: [Data], first: Int, at stack: WebPushStack) async throws -> Round {
        let before = try stack.processorTime()
        let begin = ContinuousClock.now
        let portal = stack.portal
        let times = try await concurrently(Self.clients) { client in
            var times: [Double] = []
            for number in stride(from: client, to: bodies.count, by: Self.clients) {
                times.append(try await Self.subscribe(bodies[number], number: first + number, at: portal))
            }
            return times
        }.flatMap { $0 }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let used = try stack.processorTime() - before
        let syncs = try DiskSync.measure(in: folder, seconds: Self.syncSeconds)
        return Round(
            rate: Double(bodies.count) / seconds, latency: Latency(times),
            processorTime: used / Double(bodies.count) * 1e6, syncs: Double(syncs.count) / Self.syncSeconds)
    }

    /// - Returns: The milliseconds until the answer.
    private static func subscribe(_ body: Data, number: Int, at portal: Portal) async throws -> Double {
        let sent = ContinuousClock.now
        // From many addresses, as through a proxy, since each may have few subscriptions that are not proven.
        let answer = try await portal.http.answer(
            .POST, "http://127.0.0.1:\(portal.port)/app/push/subscriptions",
            headers: [
                "Content-Type": "application/json", "X-Forwarded-For": "10.\(number / 250 % 250).\(number % 250).1",
                "X-Forwarded-Proto": "https",
            ], body: body, within: .seconds(60))
        guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        return (ContinuousClock.now - sent) / .milliseconds(1)
    }

    private static func body(_ number: Int, at sink: Sink, topic: String) -> Data {
        let browser = PushKeys()
        let body: JSONValue = [
            "endpoint": .string(SampleSubscriptions.endpoint(number, at: sink.url)),
            "keys": ["p256dh": .string(browser.p256dh), "auth": .string(browser.authSecret.text)],
            "alerts": [.string(topic)], "information": [], "language": "en",
        ]
        return body.data
    }
}
