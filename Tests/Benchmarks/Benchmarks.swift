import ArgumentParser

/// Measures the product beside its peers. `Tests/Benchmarks/run` builds and starts it.
@main
struct Benchmarks: AsyncParsableCommand {
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case stores
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
            case .stores: try await StoreBenchmark(peers: peers, messages: messages).run()
            }
        }
    }
}
