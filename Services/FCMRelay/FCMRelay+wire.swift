import CommandBus
import FoundationEssentials
import Logging
import Schemas
import ServiceKit

extension ServicePlan {
    /// Wires the FCM relay together. Neither FCM nor the token endpoint has to be there yet.
    static func fcmRelay(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let account = try ServiceAccount(file: settings.value(.fcmServiceAccountFile))
        let fcm = try settings.value(.fcmEndpoint)
        let limit = try PayloadLimit(bytes: settings.value(.fcmTopicPayloadLimit))
        let listen = try settings.value(.fcmRelayListen)
        let network = try CurlConfiguration(certificateAuthorityFile: certificates(settings))

        let transport = try CurlTransport(network)
        let now: @Sendable () -> UnixMilliseconds = { .now }
        let tokens = AccessTokenSource(
            granter: TokenEndpoint(account: account, transport: transport, now: now), logger: logger)
        let sender = HTTPv1Sender(
            endpoint: fcm, project: account.projectID, transport: transport, tokens: tokens, now: now)
        let pacer = Pacer(
            rate: Double(try settings.value(.fcmQuota)) / 60 * Double(try settings.value(.fcmQuotaShare)) / 100,
            ramp: .seconds(try settings.value(.fcmRamp)))
        let handler = RelayHandler(sender: sender, pacer: pacer, limit: limit, now: now)
        let bus = try Bus(logger: logger)
        let server: CommandServer
        do {
            server = try CommandServer(bus: bus, endpoint: listen, router: .relay(handler), logger: logger)
        } catch {
            await bus.close()
            throw error
        }
        logger.info("listening", metadata: ["endpoint": "\(server.endpoint)", "fcm": "\(fcm)", "account": "\(account)"])
        return ServicePlan(services: [RelayService(server: server, transport: transport, tokens: tokens, pacer: pacer)]) {
            await bus.close()
            await transport.close()
        }
    }

    /// The file of certificates to trust. Each connection reads it, so what is wrong with it shows here, before the first.
    private static func certificates(_ settings: SettingValues) throws -> String? {
        guard let path = try settings.optional(.fcmCAFile) else { return nil }
        let name = Setting.fcmCAFile.declaration.name
        guard let contents = try? Data(contentsOf: URL(filePath: path)) else {
            throw ConfigurationError("\(name): \(path) cannot be read")
        }
        guard String(decoding: contents, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw ConfigurationError("\(name): there is no certificate in \(path)")
        }
        return path
    }
}
