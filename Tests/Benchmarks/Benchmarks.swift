import ArgumentParser
import FoundationEssentials
import MongoDatabase
import Schemas

/// Measures the product beside its peers. `Tests/Benchmarks/run` builds and starts it.
@main
struct Benchmarks: AsyncParsableCommand {
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case sqlite, mongodb
    }

    @Option(help: "The folder of the peers' executables.")
    var peers: String

    @Option(help: "How many archived messages the longer of two histories has.")
    var messages = 1_000_000

    @Argument(help: "What to measure.")
    var names: [Name]

    func run() async throws {
        for name in names {
            switch name {
            case .sqlite: try await measureSQLite()
            case .mongodb: try await measureMongoDB()
            }
        }
    }

    private func measureSQLite() async throws {
        // Not /tmp, which may be memory: a durable write is the point.
        let folder = URL(filePath: "/var/tmp/msi-benchmark-\(ObjectID())")
        let database = BenchmarkedDatabase.sqlite(folder: folder.path(percentEncoded: false), peers: peers)
        do {
            try await StoreBenchmark(database: database, messages: messages).run()
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
        try FileManager.default.removeItem(at: folder)
    }

    private func measureMongoDB() async throws {
        guard let text = ProcessInfo.processInfo.environment["MSI_DATABASE_URL"] else {
            throw ValidationError("MSI_DATABASE_URL has to say where MongoDB is")
        }
        let database = BenchmarkedDatabase.mongodb(try MongoURL(text), text: text, peers: peers)
        try await StoreBenchmark(database: database, messages: messages).run()
    }
}
