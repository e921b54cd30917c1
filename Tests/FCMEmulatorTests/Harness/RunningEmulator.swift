import AsyncHTTPClient
import Base
import Logging
import ServiceLifecycle

@testable import FCMEmulator

/// Runs the real server inside the test, on its own port and in its own folder.
func withEmulator<Result: Sendable>(
    topicPayloadLimit: Int = 4_096, behaviour: JSONValue = [:],
    version: HTTPClient.Configuration.HTTPVersion = .automatic, _ body: (EmulatorClient) async throws -> Result
) async throws -> Result {
    try await TemporaryFolder.with { folder in
        try await withEmulator(
            in: folder, topicPayloadLimit: topicPayloadLimit, behaviour: behaviour, version: version, body)
    }
}

/// Runs the server in a folder that an earlier emulator may have used.
func withEmulator<Result: Sendable>(
    in folder: TemporaryFolder, topicPayloadLimit: Int = 4_096, behaviour: JSONValue = [:],
    version: HTTPClient.Configuration.HTTPVersion = .automatic, _ body: (EmulatorClient) async throws -> Result
) async throws -> Result {
    try SharedAccount.place(in: folder)
    var logger = Logger(label: "test")
    logger.logLevel = .warning
    let emulator = try await Emulator(
        folder: folder.emulator, port: 0, topicPayloadLimit: topicPayloadLimit,
        behaviour: try Behaviour(behaviour), logger: logger)
    let services = ServiceGroup(configuration: .init(services: [emulator.server], logger: logger))
    let result = try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await services.run() }
        let port = try await emulator.announce()
        let result = try await EmulatorClient.with(port: port, folder: folder, version: version, body)
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
        return result
    }
    try emulator.close()
    return result
}
