import Base
import FoundationEssentials
import HTTPRouting
import Hummingbird
import Logging
import MobileApp
import NIOCore
import ServiceKit
import ServiceLifecycle

@main
enum Main {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "fleet" {
            ServiceMain.run(
                .phoneFleet, subcommand: "fleet",
                aliases: [
                    "--count": Setting.fleetCount.declaration.flag, "--seconds": Setting.fleetSeconds.declaration.flag,
                    "--unsteady": Setting.fleetUnsteady.declaration.flag, "--accounts": Setting.fleetAccounts.declaration.flag,
                    "--interval": Setting.fleetInterval.declaration.flag,
                ]
            ) { try await ServicePlan.fleet($0) }
        }
        ServiceMain.run(
            .phone, aliases: ["--name": Setting.phoneName.declaration.flag, "--port": Setting.phonePort.declaration.flag],
            check: { _ = try ServicePlan.localBroadcasts($0.settings) }
        ) { try await ServicePlan.phone($0) }
    }
}

extension ServicePlan {
    /// Uses a free port if another program has this one: there may be many phones.
    private static func freePort(instead port: Int, _ logger: Logger) throws -> Int {
        guard port != 0, let obstacle = LoopbackPort.obstacle(port) else { return port }
        let free = try LoopbackPort.free()
        logger.warning("the port is taken", metadata: ["port": "\(port)", "instead": "\(free)", "error": "\(obstacle)"])
        return free
    }

    /// The broadcasts that ship with the app.
    static func localBroadcasts(_ settings: SettingValues) throws -> LocalBroadcasts {
        guard let path = try settings.optional(.phoneBroadcastsFile) else { return .none }
        let setting = Setting.phoneBroadcastsFile.declaration
        let text = try OperatorFile.text(at: path, of: setting)
        do {
            return try LocalBroadcasts(json: Data(text.utf8))
        } catch {
            throw ConfigurationError("\(setting.name): \(path): \(error)")
        }
    }

    /// Wires the phone together. Neither the emulator nor the gateway need be there yet.
    static func phone(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let folder = try settings.value(.stateDirectory)
        let name = try settings.value(.phoneName)
        let gateway = try settings.optional(.gatewayURL) ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        let emulator = EmulatorAccess(port: try settings.value(.fcmEmulatorPort), stateDirectory: folder)
        let lock = try StateLock(
            file: "\(name).lock", .alone, in: folder + "/phones",
            orElse: "the phone \"\(name)\" runs already; choose another one with --name")
        let memory = try PhoneMemory(folder: folder + "/phones", name: name)
        let (fcm, hub) = (Network(trusting: emulator.certificateFile), Network())
        let phone = try SimulatedPhone(
            name: name, memory: memory, fcm: FCMConnection(url: emulator.url, network: fcm),
            gateway: gateway, hub: hub, broadcastCopy: try settings.optional(.phoneBroadcastsURL),
            localBroadcasts: try localBroadcasts(settings), logger: logger)
        let port = try freePort(instead: try settings.value(.phonePort), logger)
        let listening = AsyncStream<Void>.makeStream()
        var quiet = logger
        quiet.logLevel = .notice
        let server = Application(
            router: try PhonePage(phone: phone).router, server: .http1Connections,
            configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil),
            onServerRunning: { channel in
                logger.info("listening", metadata: ["url": "http://127.0.0.1:\(channel.localAddress?.port ?? port)"])
                listening.continuation.finish()
            },
            logger: quiet)
        return ServicePlan(
            services: [phone, ListeningService(server, scheme: "http", port: port, of: .phonePort)],
            close: {
                defer { lock.release() }
                try await fcm.close()
                try await hub.close()
            },
            whenReady: {
                for await _ in listening.stream {}
            })
    }
}
