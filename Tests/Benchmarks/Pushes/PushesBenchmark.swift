import FoundationEssentials
import Base
import Bus
import Schemas
import TestSupport

/// Pushes to a thousand phones each: recipients a second through the outbox and the relay, compared with the relay alone, and with a C
/// program that makes the same requests.
struct PushesBenchmark {
    private static let phones = 40_000
    private static let recipientsOfPush = 1_000
    /// How many pushes each phone gets in a round.
    private static let repetitions = 3
    private static let rounds = 3
    /// How many pushes are being logged at a time.
    private static let clients = 4
    /// How many commands the relay has at a time: it takes no more pushes to that many phones.
    private static let relayCommands = 5
    private static let timeout = Duration.seconds(30)

    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    /// One way of the sends.
    private struct Line {
        /// Recipients a second, in each round.
        var rates: [Double] = []
        /// The processor time of the message log and of the relay, in microseconds for each recipient.
        var log: [Double] = []
        var relay: [Double] = []
    }

    private struct Figures: Encodable {
        let benchmark = "pushes"
        let phones = PushesBenchmark.phones
        let recipientsOfPush = PushesBenchmark.recipientsOfPush
        /// Recipients a second: through the outbox and the relay, the relay alone, and libcurl alone. Medians of the rounds.
        let rate: Double
        let relayRate: Double
        let rawRate: Double
        /// Of ``rate`` to ``relayRate``.
        let ratio: Double
        /// Microseconds for each recipient.
        let logTime: Double
        let relayTime: Double
        let relayTimeAlone: Double
        let rawTime: Double
        let memory: [MemoryWatch.Figures]
    }

    /// The recipients of the pushes of a round, each a range of phones.
    private static let pushes = (0..<repetitions).flatMap { _ in
        stride(from: 0, to: phones, by: recipientsOfPush).map { $0..<$0 + recipientsOfPush }
    }
    private static let recipients = repetitions * phones

    func run() async throws {
        say(
            "recipients a second of pushes to \(Self.recipientsOfPush) phones each, to a sink that answers at once "
                + "(\(Self.rounds) rounds of \(Self.recipients) recipients, in turns)")
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
        let body = try SamplePush.writeBody(in: bench.message.folder)
        var (whole, relay, raw, rawTimes): (Line, Line, [Double], [Double]) = (Line(), Line(), [], [])
        say(
            Table.row(
                "log + relay", "relay alone", "raw libcurl", "log's µs", "relay's µs", "relay alone's", "raw µs a recipient"))
        for round in 0..<Self.rounds {
            try await memory.during { try await push(through: log, bench, ended, round, into: &whole) }
            try await push(to: bench, through: log.bus, into: &relay)
            let before = ProcessorTime.now()
            raw.append(try await bench.raw.send(Self.recipients, bodies: [body]))
            rawTimes.append((ProcessorTime.now() - before) / Double(Self.recipients) * 1e6)
            say(
                Table.row(
                    "\(Int(whole.rates[round]))", "\(Int(relay.rates[round]))", "\(Int(raw[round]))",
                    "\(whole.log[round].twoDigits)", "\(whole.relay[round].twoDigits)", "\(relay.relay[round].twoDigits)",
                    "\(rawTimes[round].twoDigits)"))
        }
        memory.show()
        return Figures(
            rate: whole.rates.median.rounded(), relayRate: relay.rates.median.rounded(), rawRate: raw.median.rounded(),
            ratio: (whole.rates.median / relay.rates.median).twoDigits, logTime: whole.log.median.twoDigits,
            relayTime: whole.relay.median.twoDigits, relayTimeAlone: relay.relay.median.twoDigits,
            rawTime: rawTimes.median.twoDigits, memory: memory.figures)
    }

    /// A round through the outbox: from the first command until the last push has ended.
    private func push(
        through log: RunningLog, _ bench: RelayBench, _ ended: EndedPushes, _ round: Int, into line: inout Line
    ) async throws {
        ended.begin("\(round) ")
        // An announcement to all phones is as many pushes under one key.
        let payloads = try Self.pushes.enumerated().map { number, phones in
            try SamplePush.command("\(round) \(number)", to: phones, fairnessKey: "announcement").payload()
        }
        let before = try usage(log.process, bench.relay.process)
        let begin = ContinuousClock.now
        try await concurrently(Self.clients) { client in
            for number in stride(from: client, to: payloads.count, by: Self.clients) {
                _ = try await log.client.request(
                    LogPush.name, payload: payloads[number], timeout: Self.timeout, context: RunningLog.caller)
            }
        }
        let last = try await ended.wait(for: payloads.count).values.max() ?? .now
        let after = try usage(log.process, bench.relay.process)
        line.rates.append(Double(Self.recipients) / ((last - begin) / .seconds(1)))
        line.log.append(after[0] - before[0])
        line.relay.append(after[1] - before[1])
    }

    /// The same sends by commands to the relay.
    private func push(to bench: RelayBench, through bus: Bus, into line: inout Line) async throws {
        let client = try CommandClient(bus: bus, endpoints: [bench.relay.endpoint], logger: quietLogger)
        let payloads = try Self.pushes.map { try SamplePush.relayed(to: $0).payload() }
        let before = try usage(bench.relay.process)
        let begin = ContinuousClock.now
        let replies = try await concurrently(Self.relayCommands) { number in
            var replies: [Data] = []
            for number in stride(from: number, to: payloads.count, by: Self.relayCommands) {
                replies.append(try await client.request(RelayPush.name, payload: payloads[number], timeout: Self.timeout))
            }
            return replies
        }.flatMap(\.self)
        line.rates.append(Double(Self.recipients) / ((ContinuousClock.now - begin) / .seconds(1)))
        line.relay.append(try usage(bench.relay.process)[0] - before[0])
        await client.close()
        for reply in replies {
            for outcome in try RelayPush.reply(payload: reply).results {
                if case .failure(let error) = outcome.result { throw PeerFailure(description: "not relayed: \(error)") }
            }
        }
    }

    /// The processor time of services, in microseconds for each recipient of a round.
    private func usage(_ services: ServiceProcess...) throws -> [Double] {
        try services.map { try ProcessUsage(of: $0.identifier).processorTime / Double(Self.recipients) * 1e6 }
    }
}
