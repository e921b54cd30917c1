import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import ServiceKit

/// `msi-load gateway`: loads the whole product over HTTP.
struct GatewayLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "Posts messages to the gateway, like a portal.",
        discussion: "It creates a channel with subjects to post to, and removes it at the end. The messages stay in the archive.")

    @Option(help: "The gateway's URL. Without it, http://127.0.0.1 at MSI_GATEWAY_PORT.")
    var url: String?

    @Option(help: "A file with a bearer token that may send and administer. Without it, the file token in MSI_STATE_DIR.")
    var tokenFile: String?

    @OptionGroup var load: LoadOptions

    func run() async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
        for warning in settings.warnings { LoadOptions.tell(warning) }
        let url = try self.url ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        try LoopbackRule.check(url, isRemoteAllowed: load.allowRemote)
        let token = try Self.token(in: self.tokenFile ?? settings.value(.stateDirectory) + "/token")
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.inFlight
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let target = try await GatewayTarget.make(at: GatewayAddress(url: url, token: token), http: http, mix: load.mix)
            let isWell = await load.run("gateway", target)
            try await target.removeChannel()
            if !isWell { throw ExitCode.failure }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    private static func token(in file: String) throws -> String {
        do {
            return String(try String(contentsOfFile: file, encoding: .utf8).prefix { !$0.isWhitespace })
        } catch {
            throw ValidationError("--token-file: \(file) cannot be read: \(error)")
        }
    }
}
