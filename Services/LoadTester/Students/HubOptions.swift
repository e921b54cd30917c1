import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import ServiceKit

/// Where the hub of a load of students is.
struct HubOptions: ParsableArguments {
    @Option(help: "The gateway's URL. Without it, http://127.0.0.1 at MSI_GATEWAY_PORT.")
    var url: String?

    @Option(help: "The identity emulator's URL. Without it, http://127.0.0.1 at MSI_IDENTITY_EMULATOR_PORT.")
    var identityEmulator: String?

    @Option(help: "A file with a bearer token of a super user. Without it, the file token in MSI_STATE_DIR.")
    var tokenFile: String?

    @Flag(help: "Allow another host than this machine.")
    var allowRemote = false

    /// The maximum number of calls without an answer.
    static let maxInFlight = 4_096

    /// Runs a body with the hub.
    ///
    /// - Parameters:
    ///   - users: How many students there are.
    ///   - body: Returns whether the load went well.
    /// - Throws: `ExitCode` if it did not.
    func withHub(for users: Int, _ body: (StudentHub) async throws -> Bool) async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
        for warning in settings.warnings { LoadOptions.tell(warning) }
        let url = try self.url ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        let emulator =
            try identityEmulator ?? IdentityEmulatorAccess(port: settings.value(.identityEmulatorPort)).url
        for address in [url, emulator] { try LoopbackRule.check(address, isRemoteAllowed: allowRemote) }
        let token = try GatewayLoad.token(in: tokenFile ?? settings.value(.stateDirectory) + "/token")
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = min(users, Self.maxInFlight)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let hub = StudentHub(gateway: GatewayAddress(url: url, token: token), identityEmulator: emulator, http: http)
        let outcome: Result<Bool, any Error>
        do {
            outcome = .success(try await body(hub))
        } catch {
            outcome = .failure(error)
        }
        try await http.shutdown()
        let isWell = try outcome.get()
        if !isWell { throw ExitCode.failure }
    }
}
