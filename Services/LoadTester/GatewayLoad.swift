import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import Schemas
import ServiceKit

/// `msi-load gateway`: loads the whole product over HTTP.
struct GatewayLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "Posts messages to the gateway, like a portal.",
        discussion: """
            It creates a channel with subjects to post to, and removes it at the end. The messages stay in the archive.

            With --phones the load also counts at the phones: it runs msi-phone fleet beside the load, with the settings of its \
            environment. The subjects are Forced, so that the phones subscribe. At the end the phones fetch what they miss, and the \
            report says what they have, and how long it took from the post. The exit status is 1 unless each phone has each accepted \
            message, once. The phones take a part of this machine's time. They are at the FCM emulator that deploy/run starts: real \
            phones would subscribe, too, so it does not work with a hub of real FCM.
            """)

    @Option(help: "The gateway's URL. Without it, http://127.0.0.1 at MSI_GATEWAY_PORT.")
    var url: String?

    @Option(help: "A file with a bearer token that may send and administer. Without it, the file token in MSI_STATE_DIR.")
    var tokenFile: String?

    @Option(help: "How many phones receive the load, and count it; 0 for none.")
    var phones = 0

    @OptionGroup var load: LoadOptions

    func validate() throws {
        guard (0...30_000).contains(phones) else { throw ValidationError("--phones: expected 0 to 30000 phones") }
    }

    func run() async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
        for warning in settings.warnings { LoadOptions.tell(warning) }
        let url = try self.url ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        try LoopbackRule.check(url, isRemoteAllowed: load.allowRemote)
        if phones > 0 { try Self.checkEmulator(of: url, settings) }
        let token = try Self.token(in: self.tokenFile ?? settings.value(.stateDirectory) + "/token")
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.inFlight
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let target = try await GatewayTarget.make(
                at: GatewayAddress(url: url, token: token), http: http, mix: load.mix, level: phones > 0 ? .forced : .optional)
            let outcome: Result<Bool, any Error>
            do {
                outcome = .success(try await run(target, url: url))
            } catch {
                outcome = .failure(error)
            }
            try await target.removeChannel()
            let isWell = try outcome.get()
            if !isWell { throw ExitCode.failure }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    /// - Returns: Whether the load went well.
    private func run(_ target: GatewayTarget, url: String) async throws -> Bool {
        guard phones > 0 else { return await load.run("gateway", target) }
        return try await PhoneFleet.with(phones, gateway: url) { [load] fleet in
            await load.run("gateway", target) { try await fleet.report(accepted: target.accepted) }
        }
    }

    /// Real phones must not get the load.
    private static func checkEmulator(of url: String, _ settings: SettingValues) throws {
        try LoopbackRule.check(url, isRemoteAllowed: false)
        let emulator = EmulatorAccess(
            port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
        guard try settings.optional(.fcmServiceAccountFile) == nil,
            FileManager.default.fileExists(atPath: emulator.certificateFile)
        else {
            throw ValidationError(
                "--phones: the phones need the FCM emulator of deploy/run; \(emulator.certificateFile) is not there, or "
                    + "\(Setting.fcmServiceAccountFile.declaration.name) is set")
        }
    }

    private static func token(in file: String) throws -> String {
        do {
            return String(try String(contentsOfFile: file, encoding: .utf8).prefix { !$0.isWhitespace })
        } catch {
            throw ValidationError("--token-file: \(file) cannot be read: \(error)")
        }
    }
}
