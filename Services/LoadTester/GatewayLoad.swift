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

    @OptionGroup var load: LoadOptions

    func run() async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
        for warning in settings.warnings { LoadOptions.tell(warning) }
        let url = try self.url ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        try LoopbackRule.check(url, isRemoteAllowed: load.allowRemote)
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.inFlight
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let target = try await GatewayTarget.make(at: url, http: http, mix: load.mix)
            let isWell = await load.run("gateway", target)
            try await target.removeChannel()
            if !isWell { throw ExitCode.failure }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}
