import ArgumentParser
import FoundationEssentials
import MongoDatabase
import Schemas

/// Measures the product beside its peers. `Tests/Benchmarks/run` builds and starts it.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [Measure.self, BusServer.self, BareServer.self], defaultSubcommand: Measure.self)
}

/// Runs the benchmarks of the given names.
struct Measure: AsyncParsableCommand {
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case idle
        case message
        case gateway, events
        case fleet
        case missed
        case launch
        case bus, keys, json, sqlite, mongodb
        case relay
        case relayDelay = "relay-delay"
        case relaySDK = "relay-sdk"
        case relayLatency = "relay-latency"
        case relayMemory = "relay-memory"
    }

    @Option(help: "The folder of the peers' executables.")
    var peers: String

    @Option(help: "How many archived messages the longer of two histories has.")
    var messages = 1_000_000

    @Option(help: "How many phones a fleet has, or a herd.")
    var phones = 10_000

    @Option(help: "For how many seconds messages are posted at each rate to a fleet.")
    var seconds = 45.0

    @Option(help: "How many messages of the last eight days are in the archive from which phones fetch.")
    var archived = 100_000

    @Option(help: "How many rounds a herd of phones asks.")
    var rounds = 3

    @Option(help: "How many messages a second are posted beside a herd of phones.")
    var posts = 20.0

    @Option(help: "For how many seconds idle services are watched.")
    var idleSeconds = 60.0

    @Option(help: "The folder of the executables of a version without sign-ins, for the comparison of posts.")
    var baseline: String?

    @Argument(help: "What to measure.")
    var names: [Name]

    func run() async throws {
        for name in names {
            switch name {
            case .idle: try await withFolder(in: "/var/tmp") { try await IdleBenchmark(folder: $0, seconds: idleSeconds).run() }
            case .message: try await measureMessages()
            case .gateway: try await measureGateway()
            case .events: try await withFolder(in: "/var/tmp") { try await EventStreamBenchmark(folder: $0).run() }
            case .fleet:
                try await withFolder(in: "/var/tmp") {
                    try await FleetBenchmark(phones: phones, seconds: seconds, folder: $0).run()
                }
            case .missed: try await measureMissed()
            case .launch:
                try await withFolder(in: "/var/tmp") {
                    try await LaunchBenchmark(phones: phones, rounds: rounds, folder: $0).run()
                }
            case .bus: try await measureBus()
            case .keys: try await withFolder(in: "/tmp") { try await KeysBenchmark(folder: $0).run() }
            case .json: try JSONBenchmark().run()
            case .sqlite: try await measureSQLite()
            case .mongodb: try await measureMongoDB()
            case .relay: try await ThroughputBenchmark(peers: peers).run()
            case .relayDelay: try await DelayBenchmark(peers: peers).run()
            case .relaySDK: try await SDKBenchmark(peers: peers).run()
            case .relayLatency: try await LatencyBenchmark(peers: peers).run()
            case .relayMemory: try await MemoryBenchmark(peers: peers).run()
            }
        }
    }

    private func measureBus() async throws {
        try await withFolder(in: "/tmp") { try await BusBenchmark(peers: peers, folder: $0).run() }
    }

    private func measureGateway() async throws {
        // Not /tmp, which may be memory: posts are written durably.
        try await withFolder(in: "/var/tmp") { try await GatewayBenchmark(folder: $0, baseline: baseline).run() }
    }

    private func measureMissed() async throws {
        try await withFolder(in: "/var/tmp") { folder in
            try await MissedBenchmark(phones: phones, archived: archived, rounds: rounds, posts: posts, folder: folder).run()
        }
    }

    private func measureMessages() async throws {
        // Not /tmp, which may be memory: a durable write is a part of the job.
        try await withFolder(in: "/var/tmp") { try await MessageBenchmark(peers: peers, folder: $0).run() }
    }

    private func measureSQLite() async throws {
        // Not /tmp, which may be memory: a durable write is the point.
        try await withFolder(in: "/var/tmp") { folder in
            let database = BenchmarkedDatabase.sqlite(folder: folder, peers: peers)
            try await StoreBenchmark(database: database, messages: messages).run()
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
                try await StoreBenchmark(database: database, messages: messages).run()
            }
        }
    }
}
