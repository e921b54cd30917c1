import ArgumentParser
import CommandBus
import FoundationEssentials
import Logging
import ServiceKit

/// `msi-load relay`: loads only the relay, over the bus.
struct RelayLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Sends messages to FCM relays over the bus, like the message log.",
        discussion: """
            After a minute without traffic a relay starts at 2 % of its full rate, and reaches it after MSI_FCM_RAMP \
            (60 seconds), as FCM asks. Messages that wait for the ramp are slow. Start the relay with MSI_FCM_RAMP=0 to \
            measure without it. The report names what limited the load: the relay's ramp, its full rate, or FCM's quota.
            """)

    @Option(help: "A relay's bus endpoint; may be given several times. Without it, those of MSI_FCM_RELAY_ENDPOINTS.")
    var endpoint: [String] = []

    @OptionGroup var load: LoadOptions

    func run() async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
        for warning in settings.warnings { LoadOptions.tell(warning) }
        let endpoints = endpoint.isEmpty ? try settings.value(.endpoints(of: .fcmRelay)) : endpoint
        for endpoint in endpoints { try LoopbackRule.check(endpoint, isRemoteAllowed: load.allowRemote) }
        var logger = Logger(label: "msi-load")
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        var limits = ClientLimits()
        // One more than the messages, for `relay.pace`.
        limits.maxPending = load.inFlight + 1
        let client: CommandClient
        do {
            client = try CommandClient(bus: bus, endpoints: endpoints, limits: limits, logger: logger)
        } catch {
            await bus.close()
            throw ValidationError("\(error)")
        }
        let isWell = await load.run("relay", RelayTarget(client: client, on: bus, mix: load.mix))
        await bus.close()
        if !isWell { throw ExitCode.failure }
    }
}
