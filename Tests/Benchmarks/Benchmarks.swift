import ArgumentParser
import FoundationEssentials
import Schemas
import Store

/// Measures the product beside its peers. `Tests/Benchmarks/run` builds and starts it.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [Measure.self, BusServer.self, BareServer.self, PostgreSQLRoute.self], defaultSubcommand: Measure.self)
}

/// Runs the benchmarks of the given names.
struct Measure: AsyncParsableCommand {
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case idle
        case message
        case messageMongoDB = "message-mongodb"
        case queues
        case gateway, events
        case fleet
        case fanOut = "fan-out"
        case missed
        case launch
        case bus, keys, json, sqlite, mongodb
        case relay
        case relayDelay = "relay-delay"
        case relaySDK = "relay-sdk"
        case relayLatency = "relay-latency"
        case relayMemory = "relay-memory"
        case pushes, direct, drain
        case webpush
        case webpushEncryption = "webpush-encryption"
        case subscribe
        case students
        case study, near

        /// Whether it needs a program that only the benchmarks use. A smoke run does not have these.
        var needsSink: Bool {
            switch self {
            case .queues, .relay, .relayDelay, .relayLatency, .relayMemory: true
            case .pushes, .direct, .drain: true
            case .webpush, .subscribe: true
            default: false
            }
        }
    }

    @Option(help: "The folder of the peers' executables.")
    var peers: String

    @Option(help: "How many archived messages the longer of two histories has.")
    var messages = 1_000_000

    @Option(help: "How many phones there are.")
    var phones = 10_000

    @Option(help: "For how many seconds messages are posted at each rate to a fleet.")
    var seconds = 45.0

    @Option(help: "How many messages of the last eight days are in the archive from which phones fetch.")
    var archived = 100_000

    @Option(help: "How many rounds the phones poll.")
    var rounds = 3

    @Option(help: "How many messages a second are posted while phones poll.")
    var posts = 20.0

    @Option(help: "For how many seconds idle services are watched.")
    var idleSeconds = 60.0

    @Option(help: "The folder of the executables of a version without sign-ins, for the comparison of posts.")
    var baseline: String?

    @Flag(help: "Only see whether the benchmarks work: all that need no further package, or the named ones.")
    var smoke = false

    @Option(help: "How many smoke runs share the benchmarks at the same time.")
    var lanes = 1

    @Option(help: "Which of them this is, from 0.")
    var lane = 0

    @Argument(help: "What to measure.")
    var names: [Name] = []

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    func validate() throws {
        guard smoke || !names.isEmpty else { throw ValidationError("Name a benchmark.") }
        if smoke, let name = names.first(where: \.needsSink) { throw ValidationError("\(name.rawValue) has no smoke run.") }
        guard lanes == 1 || smoke, lane >= 0, lane < lanes else { throw ValidationError("Only smoke runs share the benchmarks.") }
    }

    func run() async throws {
        let all = names.isEmpty ? Name.allCases.filter({ !$0.needsSink }) : names
        for (number, name) in all.enumerated() where number % lanes == lane {
            let begin = ContinuousClock.now
            do {
                try await measure(name)
            } catch {
                throw Failed(description: "\(name.rawValue): \(error)")
            }
            if smoke { say("\(name.rawValue) works: \(((ContinuousClock.now - begin) / .seconds(1)).twoDigits) s") }
        }
    }

    private var scale: Scale { smoke ? .smoke : .full }
    private var phoneCount: Int { scale.pick(phones, smoke: 40) }
    private var pollRounds: Int { scale.pick(rounds, smoke: 1) }

    private func measure(_ name: Name) async throws {
        switch name {
        case .idle:
            try await withFolder(in: "/var/tmp") {
                try await IdleBenchmark(scale: scale, folder: $0, seconds: scale.pick(idleSeconds, smoke: 1)).run()
            }
        case .message:
            // Not /tmp, which may be memory: a durable write is a part of the job, here and below.
            try await withFolder(in: "/var/tmp") {
                try await MessageBenchmark(scale: scale, peers: peers, folder: $0).runOnSQLite()
            }
        case .messageMongoDB:
            try await withFolder(in: "/var/tmp") {
                try await MessageBenchmark(scale: scale, peers: peers, folder: $0).runOnMongoDB()
            }
        case .queues:
            try await withFolder(in: "/var/tmp") { try await QueueBenchmark(peers: peers, folder: $0).run() }
        case .gateway:
            try await withFolder(in: "/var/tmp") {
                try await GatewayBenchmark(scale: scale, folder: $0, baseline: baseline).run()
            }
        case .events: try await withFolder(in: "/var/tmp") { try await EventStreamBenchmark(scale: scale, folder: $0).run() }
        case .fleet:
            try await withFolder(in: "/var/tmp") {
                let seconds = scale.pick(seconds, smoke: 0.2)
                try await FleetBenchmark(scale: scale, phones: phoneCount, seconds: seconds, folder: $0).run()
            }
        case .fanOut: try await withFolder(in: "/var/tmp") { try await FanOutBenchmark(scale: scale, folder: $0).run() }
        case .missed: try await measureMissed()
        case .launch:
            try await withFolder(in: "/var/tmp") {
                try await LaunchBenchmark(scale: scale, phones: phoneCount, rounds: pollRounds, folder: $0).run()
            }
        case .bus: try await withFolder(in: "/tmp") { try await BusBenchmark(scale: scale, peers: peers, folder: $0).run() }
        case .keys: try await withFolder(in: "/tmp") { try await KeysBenchmark(scale: scale, folder: $0).run() }
        case .json: try JSONBenchmark(scale: scale).run()
        case .sqlite: try await measureSQLite()
        case .mongodb: try await measureMongoDB()
        case .relay: try await ThroughputBenchmark(peers: peers).run()
        case .relayDelay: try await DelayBenchmark(peers: peers).run()
        case .relaySDK: try await SDKBenchmark(scale: scale, peers: peers).run()
        case .relayLatency: try await LatencyBenchmark(peers: peers).run()
        case .relayMemory: try await MemoryBenchmark(peers: peers).run()
        case .pushes: try await withFolder(in: "/var/tmp") { try await PushesBenchmark(peers: peers, folder: $0).run() }
        case .direct: try await withFolder(in: "/var/tmp") { try await DirectBenchmark(peers: peers, folder: $0).run() }
        case .drain: try await withFolder(in: "/var/tmp") { try await DrainBenchmark(peers: peers, folder: $0).run() }
        case .webpush: try await withFolder(in: "/var/tmp") { try await WebPushBenchmark(peers: peers, folder: $0).run() }
        case .webpushEncryption: try await EncryptionBenchmark(scale: scale, peers: peers).run()
        case .students: try await withFolder(in: "/var/tmp") { try await StudentsBenchmark(scale: scale, folder: $0).run() }
        case .study: try await withFolder(in: "/var/tmp") { try await StudyBenchmark(scale: scale, folder: $0).run() }
        case .near: try await measureNear()
        case .subscribe: try await withFolder(in: "/var/tmp") { try await SubscribeBenchmark(folder: $0).run() }
        }
    }

    private func measureMissed() async throws {
        try await withFolder(in: "/var/tmp") { folder in
            let archived = scale.pick(archived, smoke: 300)
            try await MissedBenchmark(
                scale: scale, phones: phoneCount, archived: archived, rounds: pollRounds, posts: scale.pick(posts, smoke: 20),
                folder: folder
            ).run()
        }
    }

    private func measureNear() async throws {
        try await withFolder(in: "/var/tmp") { folder in
            try await NearBenchmark(
                scale: scale, folder: folder + "/sqlite", database: "SQLite", url: nil
            ).run()
            try await BenchmarkedDatabase.withMongoDB(in: folder) { url, _ in
                let own = BenchmarkedDatabase.url(url, database: "benchmark\(ObjectID())")
                try await NearBenchmark(
                    scale: scale, folder: folder + "/mongo", database: "MongoDB", url: own
                ).run()
            }
        }
    }

    private func measureSQLite() async throws {
        // Not /tmp, which may be memory: a durable write is the point.
        try await withFolder(in: "/var/tmp") { folder in
            let database = BenchmarkedDatabase.sqlite(folder: folder, peers: peers)
            try await StoreBenchmark(scale: scale, database: database, messages: scale.pick(messages, smoke: 200)).run()
        }
    }

    private func withFolder(in parent: String, _ body: (String) async throws -> Void) async throws {
        let folder = URL(filePath: "\(parent)/msi-benchmark-\(ObjectID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        do {
            try await body(folder.path(percentEncoded: false))
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
        try FileManager.default.removeItem(at: folder)
    }

    private func measureMongoDB() async throws {
        try await withFolder(in: "/var/tmp") { folder in
            try await BenchmarkedDatabase.withMongoDB(in: folder) { url, _ in
                let database = BenchmarkedDatabase.mongodb(try MongoURL(url), text: url, peers: peers)
                try await StoreBenchmark(scale: scale, database: database, messages: scale.pick(messages, smoke: 200)).run()
            }
        }
    }
}

/// How much a benchmark does: all of it, or only what shows that it still works.
///
/// `Tests/Benchmarks/run --smoke` is part of `deploy/test`.
enum Scale {
    case full
    /// Just enough to end with an error if the benchmark no longer works. The figures mean nothing.
    case smoke

    /// A parameter of a benchmark at this scale.
    func pick<Value>(_ full: Value, smoke: Value) -> Value {
        switch self {
        case .full: full
        case .smoke: smoke
        }
    }
}
