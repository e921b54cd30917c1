import FoundationEssentials
import Base
import Bus
import Schemas
import TestSupport

/// Direct messages: pushes to one phone each, at a constant rate. How long each takes from the moment at which it is stored until FCM has
/// accepted it, compared with the relay alone at the same rate, and with the disk.
struct DirectBenchmark {
    private static let rate = 500
    private static let seconds = 30
    private static let relaySeconds = 10
    private static let phones = 40_000
    private static let syncs = 1_000

    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    /// An accepted push.
    private struct Accepted: Sendable {
        let id: ObjectID
        let key: String
        /// When the reply came, by the monotonic clock, and in milliseconds since 1970.
        let at: ContinuousClock.Instant
        let time: Double
    }

    private struct Figures: Encodable {
        let benchmark = "direct"
        /// Pushes a second.
        let rate = DirectBenchmark.rate
        let seconds = DirectBenchmark.seconds
        /// From when it was due until the reply.
        let accepted: Latency
        /// From the reply until FCM has accepted it, by the push's record, in whole milliseconds.
        let sent: Latency
        let longestSent: Double
        /// From the reply until a follower has heard that the push has ended.
        let ended: Latency
        /// ``ended`` in each third of the time. If it is steady, they are alike.
        let thirds: [Latency]
        /// Processor time, as a share of one core.
        let logShare: Double
        let relayShare: Double
        /// The limits: a message to the relay alone, from when it was due until its answer, and the disk.
        let relayAlone: Latency
        let sync: Latency
        let memory: [MemoryWatch.Figures]
    }

    func run() async throws {
        say("\(Self.rate) pushes a second to one phone each for \(Self.seconds) s, to a sink that answers at once (milliseconds)")
        let figures = try await RelayBench.run(.immediate, peers: peers, warmUp: 0) { bench in
            try await RunningLog.with(in: try RunningLog.makeState(in: folder), relay: bench.relay) { log in
                let memory = try MemoryWatch(of: log.process, bench.relay.process)
                return try await log.withFollower { try await measure(log, bench, $0, memory) }
            }
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(
        _ log: RunningLog, _ bench: RelayBench, _ ended: EndedPushes, _ memory: MemoryWatch
    ) async throws -> Figures {
        var syncs = try SyncTimes.measure(Self.syncs, in: folder)
        ended.begin("direct ")
        let processes = [log.process, bench.relay.process]
        let before = try processes.map { try ProcessUsage(of: $0.identifier).processorTime }
        let begin = ContinuousClock.now
        let (pushes, times) = try await memory.during {
            let pushes = try await push(through: log)
            return (pushes, try await ended.wait(for: pushes.count))
        }
        let elapsed = (ContinuousClock.now - begin) / .seconds(1)
        let shares = try zip(processes, before).map { process, before in
            ((try ProcessUsage(of: process.identifier).processorTime - before) / elapsed).twoDigits
        }
        let sent = try await sendTimes(of: pushes.map(\.value), at: log)
        let heard = pushes.map { push in times[push.value.key].map { max(0, ($0 - push.value.at) / .milliseconds(1)) } ?? 0 }
        let alone = try await bench.relay.latency(commands: Self.rate * Self.relaySeconds, rate: Double(Self.rate))
        syncs += try SyncTimes.measure(Self.syncs, in: folder)
        let third = heard.count / 3
        let figures = Figures(
            accepted: Latency(pushes.map(\.time)), sent: Latency(sent), longestSent: (sent.max() ?? 0).twoDigits,
            ended: Latency(heard), thirds: (0..<3).map { Latency(Array(heard[$0 * third..<($0 + 1) * third])) },
            logShare: shares[0], relayShare: shares[1], relayAlone: Latency(p50: alone.p50.twoDigits, p99: alone.p99.twoDigits),
            sync: Latency(syncs), memory: memory.figures)
        show(figures)
        memory.show()
        return figures
    }

    private func show(_ figures: Figures) {
        say(Table.row("", "p50", "p99", first: 30))
        let lines = [
            ("due to accepted", figures.accepted), ("accepted to sent", figures.sent), ("accepted to ended", figures.ended),
            ("- first third", figures.thirds[0]), ("- last third", figures.thirds[2]),
            ("relay alone", figures.relayAlone), ("a sync of the disk", figures.sync),
        ]
        for (name, latency) in lines { say(Table.row(name, "\(latency.p50)", "\(latency.p99)", first: 30)) }
        say("of one core: message log \(figures.logShare), relay \(figures.relayShare)")
    }

    private func push(through log: RunningLog) async throws -> [(value: Accepted, time: Double)] {
        try await ConstantRate(count: Self.rate * Self.seconds, period: .seconds(Self.seconds)).run { number in
            let phone = number % Self.phones
            let command = SamplePush.command("direct \(number)", to: phone..<phone + 1, fairnessKey: "direct")
            let push = try await log.client.request(command, context: RunningLog.caller).push
            return Accepted(
                id: push.id, key: push.idempotencyKey, at: .now, time: Date().timeIntervalSince1970 * 1_000)
        }
    }

    /// The milliseconds from each push's reply until FCM had accepted it. FCM may have been faster than the reply.
    private func sendTimes(of pushes: [Accepted], at log: RunningLog) async throws -> [Double] {
        let clients = 16
        return try await concurrently(clients) { client in
            var times: [Double] = []
            for number in stride(from: client, to: pushes.count, by: clients) {
                let push = try await log.client.request(GetPush(pushID: pushes[number].id))
                guard let sent = push.relay.recipients.first?.acceptedAt else {
                    throw PeerFailure(description: "push \(push.id) was not sent: \(push.relay.state)")
                }
                times.append(max(0, Double(sent.rawValue) - pushes[number].time))
            }
            return times
        }.flatMap(\.self)
    }
}
