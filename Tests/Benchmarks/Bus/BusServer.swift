import ArgumentParser
import Bus
import Base
import Glibc
import Logging
import Schemas
import Subprocess
import SystemPackage

/// Answers the bus benchmark's commands in a separate process, until its standard input ends.
struct BusServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "bus-server", shouldDisplay: false)

    @Argument(help: "The endpoint.")
    var endpoint: String

    @Option(help: "The folder with the files of the keys; without it the bus has none.")
    var keys: String?

    func run() async throws {
        let logger = Logger(label: "benchmark")
        let security = try keys.map { try BenchmarkKeys(in: $0).security } ?? .loopbackOnly
        let bus = try Bus(security: security, logger: logger)
        var router = CommandRouter()
        let reply = try JSONCoder.encode(BusSample.reply)
        router.on(BusSample.bytesCommand, runs: .busThread) { _, _ in reply }
        router.on(RelayMessage.self, runs: .busThread) { _, _ in BusSample.reply }
        let server = try CommandServer(bus: bus, endpoint: endpoint, router: router, logger: logger)
        let running = Task { try await server.run() }
        await Self.endOfInput()
        running.cancel()
        try await running.value
        await bus.close()
    }

    private static func endOfInput() async {
        await withCheckedContinuation { continuation in
            do {
                try DedicatedThread.start {
                    var byte: UInt8 = 0
                    while read(STDIN_FILENO, &byte, 1) > 0 {}
                    continuation.resume()
                }
            } catch {
                say("\(error)")
                continuation.resume()
            }
        }
    }

    /// Runs a body while another process of this program serves an endpoint.
    static func serving<Value: Sendable>(
        _ endpoint: String, keys: BenchmarkKeys? = nil, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let options = keys.map { ["--keys", $0.path] } ?? []
        let result = try await Subprocess.run(
            .path("/proc/self/exe"), arguments: Arguments(["bus-server", endpoint] + options), input: .inputWriter,
            output: .discarded, error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        ) { execution in
            let value = try await body()
            try await execution.standardInputWriter.finish()
            return value
        }
        guard result.terminationStatus.isSuccess else {
            throw PeerFailure(description: "the server of the bus benchmark failed: \(result.terminationStatus)")
        }
        return result.closureResult
    }
}
