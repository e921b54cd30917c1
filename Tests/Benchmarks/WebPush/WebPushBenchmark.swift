import Base
import FoundationEssentials
import Schemas
import TestSupport

/// An Alert to 40,000 browsers on one topic: from the post until the push service has answered the last request and its result is
/// stored, with the product's processes and a sink as the push service. Compared with libcurl alone, and with pywebpush.
struct WebPushBenchmark {
    private static let subscriptions = 40_000
    private static let rounds = 3
    private static let pythonPushes = 2_000

    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    private struct Figures: Encodable {
        let benchmark = "webpush"
        let subscriptions = WebPushBenchmark.subscriptions
        /// From the post until the last result is stored.
        let seconds: Double
        /// Pushes a second.
        let product: Double
        let raw: Double
        let pywebpush: Double
        let ratioToRaw: Double
        let ratioToPywebpush: Double
        /// Microseconds for each push: all processes of the product, and pywebpush.
        let processorTime: Double
        let pywebpushProcessorTime: Double
        /// The number of the product's connections to the sink.
        let connections: Int
    }

    private struct Round {
        let seconds: Double
        let processorTime: Double
        let raw: Double
        let python: (rate: Double, processorTime: Double)

        var rate: Double { Double(WebPushBenchmark.subscriptions) / seconds }
    }

    func run() async throws {
        say(
            "an Alert to \(Self.subscriptions) browsers at a sink that answers at once "
                + "(median of \(Self.rounds) rounds, in turns)")
        let files = try makeFolder("peers")
        let senders = try WebPushSenders(text: SamplePayload.data, peers: peers, folder: files)
        let figures = try await withSink(.immediate, named: "sink") { sink in
            try await withSink(.immediateForAll, named: "http1") { http1 in
                try await measure(senders, at: sink, http1)
            }
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    /// - Parameter http1: The sink of pywebpush, which has no HTTP/2.
    private func measure(_ senders: WebPushSenders, at sink: Sink, _ http1: Sink) async throws -> Figures {
        // The gateway makes a subject's key, so the subscriptions are stored between two starts.
        let state = try makeFolder("state")
        let (warmUp, subject) = try await WebPushStack.with(sink: sink, in: state) { stack in
            (
                try await stack.portal.makeSubject("Alert", name: "Warm-up", at: "Canteen"),
                try await stack.portal.makeSubject("Alert")
            )
        }
        let sample = SampleSubscriptions(sink: sink.url)
        try await sample.store(1, first: 0, of: try warmUp.topic, in: state)
        try await sample.store(Self.subscriptions, first: 1, of: try subject.topic, in: state)
        let figures = try await WebPushStack.with(sink: sink, in: state) { stack in
            let (rounds, connections) = try await stack.withEndedPushes { ended in
                try await stack.warmUp(warmUp, ended)
                var rounds: [Round] = []
                var connections = 0
                say(Table.row("seconds", "pushes/s", "µs", "raw libcurl", "ratio", "pywebpush", "µs", "ratio"))
                for _ in 0..<Self.rounds {
                    let (seconds, time) = try await post(to: subject, at: stack, ended)
                    connections = max(connections, try Connections.count(on: sink.port))
                    let round = Round(
                        seconds: seconds, processorTime: time, raw: try await senders.sendRaw(Self.subscriptions, to: sink),
                        python: try await senders.sendWithPython(Self.pythonPushes, to: http1))
                    show(round)
                    rounds.append(round)
                }
                return (rounds, connections)
            }
            let (rate, raw, python) = (
                rounds.map(\.rate).median, rounds.map(\.raw).median, rounds.map(\.python.rate).median
            )
            return Figures(
                seconds: rounds.map(\.seconds).median.twoDigits, product: rate.rounded(), raw: raw.rounded(),
                pywebpush: python.rounded(), ratioToRaw: (rate / raw).twoDigits, ratioToPywebpush: (rate / python).twoDigits,
                processorTime: rounds.map(\.processorTime).median.twoDigits,
                pywebpushProcessorTime: rounds.map(\.python.processorTime).median.twoDigits, connections: connections)
        }
        let blocks = try await SampleSubscriptions.blocks(ofFanOutsTo: Self.subscriptions, in: state)
        guard blocks == Array(repeating: WebPushStack.blocks(of: Self.subscriptions), count: Self.rounds) else {
            throw PeerFailure(description: "the \(Self.rounds) Alerts went out in \(blocks) blocks")
        }
        return figures
    }

    /// Posts an Alert, and waits until all pushes have been accepted.
    ///
    /// - Returns: The seconds from the post, and the product's microseconds of processor time for each push.
    private func post(
        to subject: SubjectPath, at stack: WebPushStack, _ ended: EndedPushes
    ) async throws -> (seconds: Double, processorTime: Double) {
        let before = try stack.processorTime()
        ended.begin("")
        let begin = ContinuousClock.now
        let key = try await stack.portal.accepted(subject.message())
        let times = try await ended.wait(for: WebPushStack.blocks(of: Self.subscriptions), of: "\(key)/")
        let last = times.values.max() ?? begin
        let used = try stack.processorTime() - before
        return ((last - begin) / .seconds(1), used / Double(Self.subscriptions) * 1e6)
    }

    private func show(_ round: Round) {
        say(
            Table.row(
                "\(round.seconds.twoDigits)", "\(Int(round.rate))", "\(round.processorTime.twoDigits)", "\(Int(round.raw))",
                "\((round.rate / round.raw).twoDigits)", "\(Int(round.python.rate))", "\(round.python.processorTime.twoDigits)",
                "\((round.rate / round.python.rate).twoDigits)"))
    }

    private func makeFolder(_ name: String) throws -> String {
        try RunningLog.makeState(name, in: folder)
    }

    private func withSink<Value>(
        _ speed: Sink.Speed, named name: String, _ body: (Sink) async throws -> Value
    ) async throws -> Value {
        try await Sink.with(speed, in: try makeFolder(name), body)
    }
}

extension Sink {
    /// Runs a body while a sink runs.
    ///
    /// - Parameter folder: A folder for its files.
    static func with<Value>(_ speed: Speed, in folder: String, _ body: (Sink) async throws -> Value) async throws -> Value {
        let sink = try await Sink(speed, in: folder)
        return try await perform {
            try await body(sink)
        } finally: {
            await sink.stop()
        }
    }
}

extension SubjectPath {
    var topic: TopicKey {
        get throws {
            guard let topic = TopicKey(topicKey) else { throw PeerFailure(description: "\(topicKey) is no topic key") }
            return topic
        }
    }
}

extension WebPushStack {
    /// The number of pushes that the Web Push service logs for a message to one push service: its blocks.
    static func blocks(of subscriptions: Int) -> Int {
        // `FanOut.rangeSize`; the benchmark fails if it is another one.
        let size = 500
        return (subscriptions + size - 1) / size
    }

    /// Runs a body while it hears which pushes have ended.
    func withEndedPushes<Value>(_ body: (EndedPushes) async throws -> Value) async throws -> Value {
        try await withBus { bus in try await EndedPushes.with(at: events, bus: bus, body) }
    }

    /// Posts until an event arrives: then the connections are there, those of the events too.
    func warmUp(_ subject: SubjectPath, _ ended: EndedPushes) async throws {
        ended.begin("")
        try await eventually("events of ended pushes arrive", every: .milliseconds(200)) {
            _ = try await portal.accepted(subject.message())
            return ended.count > 0
        }
    }
}
