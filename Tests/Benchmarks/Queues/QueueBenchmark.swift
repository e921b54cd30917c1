import Base
import FoundationEssentials

/// The product's main job beside servers that do the same durable work.
struct QueueBenchmark {
    private static let inFlight = [1, 64]
    private static let rounds = 3
    private static let seconds = 3.0
    private static let tracedSeconds = 2.0
    /// The time after a run in which its processor time still counts: indexes and audit logs follow, logs are compacted.
    private static let aftermath = Duration.seconds(1)

    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    /// A queue and a number in flight.
    private struct Place: Hashable {
        let queue: String
        let inFlight: Int
    }

    /// One run with its cost.
    private struct Round {
        let run: QueueRun
        let processorTime: Double
    }

    func run() async throws {
        say(
            "durable queues: messages that are accepted over the network, synced, consumed and acknowledged "
                + "(medians of \(Self.rounds) rounds of \(Int(Self.seconds)) s, in turns)")
        let rounds = try await withAllQueues(isTraced: false, in: folder + "/timed") { queues in
            for queue in queues { _ = try await queue.run(inFlight: connections, seconds: 1) }
            var rounds: [(place: Place, round: Round)] = []
            for _ in 0..<Self.rounds {
                for queue in queues {
                    for inFlight in Self.inFlight {
                        rounds.append((Place(queue: queue.name, inFlight: inFlight), try await measure(queue, inFlight)))
                    }
                }
            }
            return rounds
        }
        let syncs = try await withAllQueues(isTraced: true, in: folder + "/traced") { try await countSyncs(of: $0) }
        var names: [String] = []
        for place in rounds.map(\.place) where !names.contains(place.queue) { names.append(place.queue) }
        let figures = QueueFigures(
            queues: try names.map { name in
                QueueFigures.Queue(
                    name: name,
                    loads: try Self.inFlight.map { inFlight in
                        let place = Place(queue: name, inFlight: inFlight)
                        guard let syncs = syncs[place] else { throw PeerFailure(description: "\(name) was not traced") }
                        return Self.load(inFlight, rounds.filter { $0.place == place }.map(\.round), syncs)
                    })
            })
        figures.show()
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ queue: any DurableQueue, _ inFlight: Int) async throws -> Round {
        let before = try queue.processorTime
        let run = try await queue.run(inFlight: inFlight, seconds: Self.seconds)
        try await Task.sleep(for: Self.aftermath)
        return Round(run: run, processorTime: (try queue.processorTime - before) / Double(run.messages) * 1e6)
    }

    private static func load(_ inFlight: Int, _ rounds: [Round], _ syncs: QueueFigures.Syncs) -> QueueFigures.Load {
        let runs = rounds.map(\.run)
        return QueueFigures.Load(
            inFlight: inFlight, rate: runs.map { Double($0.messages) / $0.seconds }.median.rounded(),
            acceptedRate: runs.map { Double($0.messages) / $0.acceptedSeconds }.median.rounded(),
            answer: .median(runs.map(\.answer)), processorTime: rounds.map(\.processorTime).median.rounded(), syncs: syncs)
    }

    /// Runs each queue for a short time, and counts its syncs.
    private func countSyncs(of queues: [any DurableQueue]) async throws -> [Place: QueueFigures.Syncs] {
        var figures: [Place: QueueFigures.Syncs] = [:]
        for queue in queues {
            _ = try await queue.run(inFlight: connections, seconds: 0.5)
            for inFlight in Self.inFlight {
                let begin = Date().timeIntervalSince1970
                let run = try await queue.run(inFlight: inFlight, seconds: Self.tracedSeconds)
                let time = begin...Date().timeIntervalSince1970
                let syncs = try queue.syncLogs.map { try $0.count(time) }.reduce(0, +)
                // A message alone shares its sync with no other one.
                guard syncs > 0, inFlight > 1 || syncs >= run.messages else {
                    throw PeerFailure(
                        description: "\(queue.name) accepted \(run.messages) messages with \(syncs) syncs: it does not sync each")
                }
                figures[Place(queue: queue.name, inFlight: inFlight)] = QueueFigures.Syncs(
                    rate: (Double(syncs) / run.seconds).rounded(),
                    messagesPerSync: (Double(run.messages) / Double(syncs)).twoDigits)
            }
        }
        return figures
    }

    // MARK: Servers

    private var connections: Int { Self.inFlight.max() ?? 1 }

    /// Runs a body while all queues run. Those that wait for their turn do nothing.
    private func withAllQueues<Value>(
        isTraced: Bool, in folder: String, _ body: ([any DurableQueue]) async throws -> Value
    ) async throws -> Value {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        // What the product's relay gets for one of the posts.
        let bodyFile = try RelayedMessage(in: folder).payloadFile
        return try await ProductQueue.with(isTraced: isTraced, peers: peers, in: folder + "/p") { product in
            try await RabbitMQNode.with(
                bodyFile: bodyFile, isTraced: isTraced, peers: peers, in: folder + "/rabbitmq"
            ) { rabbitMQ in
                try await PostgreSQLQueue.with(
                    product.posts, connections: connections, isTraced: isTraced, in: folder + "/postgresql"
                ) { try await body([product] + rabbitMQ.queues + [$0]) }
            }
        }
    }
}
