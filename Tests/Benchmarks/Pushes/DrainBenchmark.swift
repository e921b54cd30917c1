import FoundationEssentials
import Base
import Bus
import Schemas
import TestSupport

/// The end of an outage: how fast the message log and the relay relay a backlog, compared with the store and with the relay alone, and how
/// long new Alerts take at that time.
struct DrainBenchmark {
    private static let backlog = 100_000
    /// The messages of the store alone.
    private static let settled = 20_000
    private static let relayCommands = 40_000
    /// The number of new Alerts without a backlog.
    private static let quietAlerts = 30
    /// The outbox's limit for messages that are not urgent.
    private static let inFlight = 224

    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    /// Milliseconds from the command until FCM has accepted an Alert.
    private struct Alerts: Encodable {
        let count: Int
        let times: Latency
        let longest: Double

        init(_ times: [Double]) {
            count = times.count
            self.times = Latency(times)
            longest = (times.max() ?? 0).twoDigits
        }
    }

    private struct Figures: Encodable {
        let benchmark = "drain"
        let backlog = DrainBenchmark.backlog
        /// Messages a second: of the message log with the relay, the store alone, and the relay alone.
        let rate: Double
        let storeRate: Double
        let relayRate: Double
        /// Of ``rate`` to the lower one of the other two.
        let ratio: Double
        /// Microseconds for each message.
        let logTime: Double
        let relayTime: Double
        let alerts: Alerts
        let alertsWithoutBacklog: Alerts
        let memory: [MemoryWatch.Figures]
    }

    func run() async throws {
        say("messages a second of a backlog of \(Self.backlog) due messages, to a sink that answers at once")
        let storeRate = try await measureStore()
        let state = try RunningLog.makeState(in: folder)
        try await DueArchive(count: Self.backlog, folder: state).fill()
        let figures = try await RelayBench.run(.immediate, peers: peers, warmUp: 0) { bench in
            try await RunningLog.with(in: state, relay: bench.relay) { try await measure($0, bench, storeRate: storeRate) }
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measureStore() async throws -> Double {
        let archive = DueArchive(count: Self.settled, folder: try RunningLog.makeState("store", in: folder))
        try await archive.fill()
        return try await archive.settle()
    }

    private func measure(_ log: RunningLog, _ bench: RelayBench, storeRate: Double) async throws -> Figures {
        // The message log is ready, and has begun.
        let begin = ContinuousClock.now
        let memory = try MemoryWatch(of: log.process, bench.relay.process)
        let before = try usage(log, bench)
        let traffic = AlertTraffic(at: log)
        async let posting = traffic.run()
        try await memory.during { try await waitUntilRelayed(log) }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let times = zip(try usage(log, bench), before).map { (($0 - $1) / Double(Self.backlog) * 1e6).rounded() }
        traffic.stop()
        let alerts = Alerts(try await posting)
        let quiet = Alerts(try await AlertTraffic(at: log).run(atMost: Self.quietAlerts))
        let counts = try await log.client.request(CountMessages()).states
        guard counts[.relayed] == Self.backlog + alerts.count + quiet.count else {
            throw PeerFailure(description: "not every message was relayed: \(counts)")
        }
        let (rate, relayRate) = (Double(Self.backlog) / seconds, try await relayAlone(bench))
        let figures = Figures(
            rate: rate.rounded(), storeRate: storeRate.rounded(), relayRate: relayRate.rounded(),
            ratio: (rate / min(storeRate, relayRate)).twoDigits, logTime: times[0], relayTime: times[1], alerts: alerts,
            alertsWithoutBacklog: quiet, memory: memory.figures)
        show(figures)
        memory.show()
        return figures
    }

    private func show(_ figures: Figures) {
        say(Table.row("log + relay", "store alone", "relay alone", "ratio", "log's µs", "relay's µs a message"))
        say(
            Table.row(
                "\(Int(figures.rate))", "\(Int(figures.storeRate))", "\(Int(figures.relayRate))", "\(figures.ratio)",
                "\(Int(figures.logTime))", "\(Int(figures.relayTime))"))
        say("milliseconds from a new Alert until FCM has accepted it, one Alert a second")
        say(Table.row("", "alerts", "p50", "p99", "longest", first: 20))
        for (name, alerts) in [("with the backlog", figures.alerts), ("without", figures.alertsWithoutBacklog)] {
            say(
                Table.row(
                    name, "\(alerts.count)", "\(alerts.times.p50)", "\(alerts.times.p99)", "\(alerts.longest)", first: 20))
        }
    }

    /// The processor time of the message log and of the relay, in seconds.
    private func usage(_ log: RunningLog, _ bench: RelayBench) throws -> [Double] {
        try [log.process, bench.relay.process].map { try ProcessUsage(of: $0.identifier).processorTime }
    }

    private func waitUntilRelayed(_ log: RunningLog) async throws {
        for state in [RelayState.pending, .retrying] {
            var filter = MessageFilter()
            filter.state = state
            let waiting = ListMessages(limit: 1, filter: filter)
            try await eventually("the backlog is relayed", within: .seconds(1_800), every: .milliseconds(100)) {
                try await log.client.request(waiting).messages.isEmpty
            }
        }
    }

    /// The same messages by commands to the relay.
    private func relayAlone(_ bench: RelayBench) async throws -> Double {
        let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let now = UnixMilliseconds.now
        let message = RelayMessage(
            msiKey: ObjectID(), timestamp: now, content: DueArchive.content(topic), expires: now + 2_419_200_000)
        let file = bench.message.folder + "/information.json"
        try JSONCoder.encode(message).write(to: URL(filePath: file))
        let result = try await Peer(path: peers + "/drive_relay").run(
            [bench.relay.endpoint, file, "\(Self.inFlight)", "\(Self.relayCommands)", "0"])
        return result.count / result.seconds
    }
}
