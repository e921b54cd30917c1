import ArgumentParser
import AsyncHTTPClient
import Base
import FoundationEssentials
import ServiceKit

/// `msi-load study`: loads a hub with students who study.
struct StudyLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "study", abstract: "Lets students look at the map, join sessions, post and leave, through the gateway.",
        discussion: """
            It registers the students at the identity emulator of a hub to try out, such as that of deploy/run, and makes classes for \
            them. Each student has an open app, which asks for the map and for its own session once in a --period, and does one more \
            thing: joins, starts, changes or leaves a session, reports its place, reads posts or writes one. One student in twenty hosts \
            a session at the beginning.

            At the end the classes are closed, which ends their sessions. The accounts and the history stay, so do not use it with a \
            hub of people. Exit status 1 if a call fails. What a student may no longer do, since a session has ended or has no room, is \
            refused and is no failure.
            """)

    @Option(help: "How many students have an open app.")
    var users = 100

    @Option(help: "For how many seconds they study.")
    var duration: Double = 60

    @Option(help: "The time between two looks at the map, in seconds.")
    var period: Double = 30

    @Option(help: "The random seed for what the students do.")
    var seed: UInt64 = 1

    @Option(help: "A JSON file for the figures.")
    var json: String?

    @Option(help: "The gateway's URL. Without it, http://127.0.0.1 at MSI_GATEWAY_PORT.")
    var url: String?

    @Option(help: "The identity emulator's URL. Without it, http://127.0.0.1 at MSI_IDENTITY_EMULATOR_PORT.")
    var identityEmulator: String?

    @Option(help: "A file with a bearer token of a super user. Without it, the file token in MSI_STATE_DIR.")
    var tokenFile: String?

    @Flag(help: "Allow another host than this machine.")
    var allowRemote = false

    /// The maximum number of calls without an answer.
    private static let maxInFlight = 4_096

    func validate() throws {
        guard (1...20_000).contains(users) else { throw ValidationError("--users: expected 1 to 20000 students") }
        // A token of a device works for an hour.
        guard (0.1...3_000).contains(duration) else { throw ValidationError("--duration: expected 0.1 to 3000 seconds") }
        guard (0.1...3_600).contains(period) else { throw ValidationError("--period: expected 0.1 to 3600 seconds") }
        if let json { try LoadOptions.make(json, for: "--json") }
    }

    func run() async throws {
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
        let hub = StudyHub(gateway: GatewayAddress(url: url, token: token), identityEmulator: emulator, http: http)
        let outcome: Result<Bool, any Error>
        do {
            outcome = .success(try await run(at: hub))
        } catch {
            outcome = .failure(error)
        }
        try await http.shutdown()
        let isWell = try outcome.get()
        if !isWell { throw ExitCode.failure }
    }

    /// - Returns: Whether no call has failed, and the figures were written.
    private func run(at hub: StudyHub) async throws -> Bool {
        let target = try await StudyTarget.make(users, at: hub, seed: seed, tell: LoadOptions.tell)
        let load = LoadRun(
            target: target, rate: Double(users * StudyUser.callsPerPeriod) / period, duration: duration, ramp: 0,
            inFlight: Self.maxInFlight
        ) { LoadOptions.tell(ReportTable.line($0)) }
        let (totals, seconds) = await load.runUntilInterrupted()
        let report = StudyReport(target, period: period, totals, seconds: seconds)
        print(report)
        if let json { try JSONCoder.encode(report).write(to: URL(filePath: json)) }
        // Last: a hub that is away by now must not lose the figures.
        try await target.end()
        return report.sent > 0 && report.failed == 0
    }
}
