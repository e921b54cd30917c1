import ArgumentParser
import Bus
import FoundationEssentials
import Logging
import Schemas
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

/// The FCM relay as a target. The load replaces the message log.
struct RelayTarget: LoadTarget {
    let client: CommandClient
    let mix: MessageMix
    let executor: (any TaskExecutor)?
    private let topics: [TopicKey]

    /// A relay's maximum time for a command.
    private static let commandTimeout = Duration.seconds(30)

    init(client: CommandClient, on bus: Bus, mix: MessageMix) {
        self.client = client
        executor = bus.taskExecutor
        self.mix = mix
        topics = (0..<mix.topics).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
    }

    /// The class of a failure. The bus's messages for `unavailable` are few sentences that name the relay, so they are
    /// part of the class.
    private static func errorClass(of failure: CommandFailure) -> String {
        let status = "bus \(failure.status.rawValue)"
        return failure.status == .unavailable ? "\(status) (\(failure.message))" : status
    }

    func bottlenecks() async -> Set<Bottleneck> {
        guard let pace = try? await client.request(ReadPace(), timeout: .seconds(1)) else { return [] }
        return Set(pace.projects.compactMap(Self.bottleneck))
    }

    private static func bottleneck(of project: ProjectPace) -> Bottleneck? {
        if project.pausedFor != nil { return .quota }
        guard project.waiting > 0 else { return nil }
        return project.rate < project.fullRate ? .ramp : .pace
    }

    func send(_ index: Int) async -> [String]? {
        let sample = mix.sample(index)
        let command = RelayMessage(
            msiKey: ObjectID(), timestamp: .now, content: sample.content(index, to: topics[sample.topic]))
        do throws(CommandFailure) {
            let errors = try await client.request(command, timeout: Self.commandTimeout).components.compactMap { outcome in
                if case .failure(let error) = outcome.result { "fcm \(error.code)" } else { nil }
            }
            return errors.isEmpty ? nil : errors
        } catch {
            return [Self.errorClass(of: error)]
        }
    }
}
