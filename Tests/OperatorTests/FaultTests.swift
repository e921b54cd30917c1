import Bus
import Base
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import Store
import TestSupport
import Testing

@testable import Operator

/// A fault that an operator meets, and how `msi doctor` names it.
struct Fault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let level: Finding.Level
    let check: Finding.Check
    /// Words of the sentence, and of what to do.
    let found: String
    let advice: String
    /// Makes the fault in an empty folder, and looks for it.
    let look: @Sendable (_ folder: String) async throws -> [Finding]

    init(
        _ title: String, _ level: Finding.Level, _ check: Finding.Check, _ found: String, _ advice: String,
        look: @escaping @Sendable (String) async throws -> [Finding]
    ) {
        testDescription = title
        self.level = level
        self.check = check
        self.found = found
        self.advice = advice
        self.look = look
    }

    private static func settings(_ environment: [String: String]) async -> (values: SettingValues, mistakes: [String]) {
        var mistakes: [String] = []
        let values = await SettingValues(environment: environment, mistakes: &mistakes)
        return (values, mistakes)
    }

    private static func installation(in folder: String = "/nowhere") -> Installation {
        Installation(executables: folder, environment: [:], isRoot: false)
    }

    private static func write(_ text: String, _ path: String, mode: mode_t) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        chmod(path, mode)
    }

    // MARK: Settings

    private static func configuration(
        _ environment: [String: String] = [:], service script: String? = nil, _ folder: String
    ) async throws -> [Finding] {
        if let script { try await ExecutableFile.write(script, to: folder + "/msi-cube") }
        let (values, mistakes) = await settings(environment)
        return await ConfigurationCheck(
            installation: installation(in: folder), settings: values, mistakes: mistakes, processes: []
        ).result().findings
    }

    static let settings = [
        Fault("a mistyped setting", .failure, .configuration, "did you mean MSI_GATEWAY_PORT?", "correct its name") {
            try await configuration(["MSI_GATEWAY_PROT": "1"], $0)
        },
        Fault("a value that a service refuses", .failure, .configuration, "msi-cube: MSI_LOG_LEVEL: expected", "msi-cube --help")
        {
            try await configuration(service: "#!/bin/sh\necho 'msi-cube: MSI_LOG_LEVEL: expected a level' >&2\nexit 78\n", $0)
        },
        Fault("an executable that cannot be run", .failure, .configuration, "msi-cube: it cannot be run", "install it again") {
            try await configuration(service: "#!/nowhere/sh\n", $0)
        },
        Fault("a setting without effect", .warning, .configuration, "MSI_LOG_LEVEL in", "remove one of the two") { folder in
            try write("MSI_LOG_LEVEL=info\n", folder + "/msi.env", mode: 0o600)
            let (values, _) = await settings(["MSI_CONFIG_FILE": folder + "/msi.env", "MSI_LOG_LEVEL": "debug"])
            return await SettingsInEffectCheck(installation: installation(), settings: values, processes: [], reports: [:])
                .overridden()
        },
    ]

    // MARK: Files, the disk and the clock

    /// - Parameter make: Changes a private state directory.
    private static func files(
        _ folder: String, _ environment: [String: String] = [:], _ make: (String) throws -> Void
    ) async throws -> [Finding] {
        let state = folder + "/state"
        mkdir(state, 0o700)
        try make(state)
        let (values, _) = await settings(environment.merging(["MSI_STATE_DIR": state]) { $1 })
        return try FileCheck(installation: installation(in: folder), settings: values).findings
    }

    static let machine = [
        Fault("a state directory that is open to others", .failure, .files, "other users can enter it", "chmod 700") {
            try await files($0) { chmod($0, 0o755) }
        },
        Fault("a token that others can read", .failure, .files, "a token with all rights", "chmod 600") {
            try await files($0) { try write("t", $0 + "/token", mode: 0o644) }
        },
        Fault("a secret that others can read", .failure, .secrets, "MSI_TOKEN_FILE", "replace the secret") { folder in
            try write("t", folder + "/key", mode: 0o604)
            return try await files(folder, ["MSI_TOKEN_FILE": folder + "/key"]) { _ in }
        },
        Fault("a secret's file that is gone", .failure, .secrets, "cannot be read: No such file", "put the file there") {
            folder in
            try await files(folder, ["MSI_TOKEN_FILE": folder + "/key"]) { _ in }
        },
        Fault("the first password is still in its file", .warning, .files, "the first password of admin", "rm ") {
            try await files($0) { try write("p", $0 + "/password", mode: 0o600) }
        },
        Fault("an interrupted restore", .failure, .files, "msi restore was interrupted", "run the same msi restore again") {
            try await files($0) { mkdir($0 + "/restore.ready", 0o700) }
        },
        Fault("a database that is gone", .warning, .files, "people.sqlite of", "restore it from a backup") { folder in
            for service in ["msi-cube", "msi-people"] { try write("", "\(folder)/\(service)", mode: 0o700) }
            return try await files(folder) { try write("", $0 + "/cube.sqlite", mode: 0o600) }
        },
        Fault("a full disk", .failure, .disk, "new messages are refused", "free some space") { _ in
            [DiskCheck.finding(DiskSpace(free: 1 << 20, total: 1 << 40), at: "/")]
        },
        Fault("a disk that is nearly full", .warning, .disk, "500 MiB free", "free some space") { _ in
            [DiskCheck.finding(DiskSpace(free: 500 << 20, total: 1 << 41), at: "/")]
        },
        Fault("a clock that differs from MongoDB's", .failure, .clock, "by 2600 ms", "follow a time server") { _ in
            [DatabaseCheck.finding(-2_600)]
        },
        Fault("data of a later version in MongoDB", .failure, .database, "has the format 1000", "the version that has written") {
            _ in
            let url = try await MongoServer.shared.url()
            let database = await MongoDatabase.open(try MongoURL(url), application: "test", logger: quietLogger)
            try await database.run { try $0.prepare("message-log", FormatVersions(written: 1_000, readable: 1...1_000)) {} }
            await database.close()
            return try await DatabaseCheck(settings: await settings(["MSI_DATABASE_URL": url]).values).findings()
        },
        Fault("a clock that Google refuses", .failure, .clock, "Google refuses keys", "systemd-timesyncd") { _ in
            [FCMCheck.finding(400.0)]
        },
        Fault("a certificate that has expired", .failure, .certificate, "expired on", "renew it") { folder in
            try TestCertificate(lifetime: -60).write(certificateFile: folder + "/c.pem", keyFile: folder + "/k.pem")
            let (values, _) = await settings(["MSI_GATEWAY_TLS_CERTIFICATE_FILE": folder + "/c.pem"])
            return try CertificateCheck(settings: values).findings(at: Date())
        },
    ]

    // MARK: Services

    private static func advice(_ endpoint: String, _ state: EndpointState, otherHost: String? = nil) async -> BusAdvice {
        BusAdvice(
            instance: BusInstance(.cube, at: endpoint, state, otherHost: otherHost), installation: installation(),
            settings: await settings(["MSI_STATE_DIR": "/nowhere"]).values, processes: [], supervisor: nil)
    }

    private static func silent(_ endpoint: String, _ state: EndpointState, otherHost: String? = nil) async -> [Finding] {
        [await advice(endpoint, state, otherHost: otherHost).findingWithoutListener()]
    }

    private static func ended(_ ended: EndedService?) -> [Finding] {
        ended.map { [.failure(.sockets, "msi-cube \($0.found)", $0.advice)] } ?? []
    }

    static let services = [
        Fault("a service that was not started", .failure, .sockets, "msi-cube is not running", "msi up") { _ in
            await silent("ipc:///run/msi/cube.sock", .missing)
        },
        Fault("a service that was killed", .failure, .sockets, "left behind by a process that was killed", "msi up") { _ in
            await silent("ipc:///run/msi/cube.sock", .stale)
        },
        Fault("a socket that this user may not use", .failure, .sockets, "may not use /run/msi", "as the user of the services") {
            _ in
            await silent("ipc:///run/msi/cube.sock", .forbidden(path: "/run/msi"))
        },
        Fault("a host name without an address", .failure, .sockets, "has no address", "/etc/hosts") { _ in
            await silent("tcp://hub-2:7101", .unknownName("Name or service not known"), otherHost: "hub-2")
        },
        Fault("a service on another machine that does not run", .failure, .sockets, "so hub-2 is up", "on hub-2: ") { _ in
            await silent("tcp://hub-2:7101", .refused, otherHost: "hub-2")
        },
        Fault("a firewall", .failure, .sockets, "not even with a refusal", "does a firewall") { _ in
            await silent("tcp://hub-2:7101", .silent, otherHost: "hub-2")
        },
        Fault("a network without a way", .failure, .sockets, "No route to host", "ip route get") { _ in
            await silent("tcp://hub-2:7101", .unreachable("No route to host"), otherHost: "hub-2")
        },
        Fault("keys that do not fit", .failure, .sockets, "not this machine's keys", "msi keys public") { _ in
            let failure = CommandFailure(
                .unavailable, "no connection to tcp://hub-2:7101 (the key is unknown); the command was not sent")
            return [await advice("tcp://hub-2:7101", .listening(process: nil), otherHost: "hub-2").finding(of: failure)]
        },
        Fault("a service that hangs", .failure, .sockets, "it hangs", "uptime") { _ in
            let failure = CommandFailure(.deadlineExceeded, "no reply in time, outcome unknown")
            return [await advice("ipc:///run/msi/cube.sock", .listening(process: nil)).finding(of: failure)]
        },
        Fault("another program at the socket", .failure, .sockets, "is no msi-cube of this installation", "ps -fp") { _ in
            let failure = CommandFailure(.deadlineExceeded, "no reply in time, outcome unknown")
            return [await advice("ipc:///run/msi/cube.sock", .listening(process: getpid())).finding(of: failure)]
        },
        Fault("a unit that has failed", .failure, .sockets, "exit status 78, after 5 restarts", "systemctl reset-failed") { _ in
            let state = "Result=exit-code\nNRestarts=5\nExecMainStatus=78\nActiveState=failed\nSubState=failed"
            return ended(EndedService.parse(state, unit: "msi-cube"))
        },
        Fault("a service that cannot start", .failure, .sockets, "ends each time msi up starts it", "/state/log/msi-cube.log") {
            _ in
            let end = StatusFile.text(ofEnd: "exited with status 1. Its log: cube.sqlite is damaged")
            return ended(
                EndedService.supervised(by: RunningSupervisor(id: 7, isStopped: false), end, log: "/state/log/msi-cube.log"))
        },
        Fault("msi up that Ctrl-Z has stopped", .failure, .sockets, "msi up (process 7) is stopped", "kill -CONT 7") { _ in
            ended(EndedService.supervised(by: RunningSupervisor(id: 7, isStopped: true), nil, log: ""))
        },
        Fault("services of two versions", .warning, .versions, "cube is 0.1.0", "restart deploy/run") { _ in
            VersionCheck(versions: ["cube": "0.1.0"], installation: installation()).findings
        },
        Fault("a port that another program has", .failure, .processes, "of MSI_GATEWAY_PORT cannot be used", "ss -ltnp") { _ in
            let (listener, port) = try loopbackListener()
            defer { close(listener) }
            let (values, _) = await settings(["MSI_GATEWAY_PORT": "\(port)"])
            return try ProcessCheck(installation: installation(), settings: values, processes: [], supervisor: nil).findings
        },
    ]

    // MARK: What services say about themselves

    private static func health(_ parts: [String: PartHealth]) -> [Finding] {
        BusCheck.findings(
            of: ServiceHealth(version: "1.0.0", parts: parts),
            BusInstance(.messageLog, at: "ipc:///run/msi/message-log.sock", .missing),
            log: "journalctl -u msi-message-log@1")
    }

    static let answers = [
        Fault("an archive that is full", .failure, .sockets, "part store does not work: 97 %", "MSI_MESSAGE_RETENTION") { _ in
            health(["store": PartHealth(.storageFull, "97 % of the archive are used")])
        },
        Fault("a database that takes no writes", .failure, .sockets, "read-only", "journalctl -u msi-message-log@1") { _ in
            health(["store": PartHealth(.unavailable, "attempt to write a readonly database: the disk is read-only")])
        },
        Fault("a relay that does not reach FCM", .warning, .sockets, "fcm: 20 requests failed", "see the findings about relay") {
            _ in
            health(["relay": PartHealth(.ok, parts: ["fcm": PartHealth(.unavailable, "20 requests failed")])])
        },
        Fault("entries that wait for the audit log", .warning, .sockets, "9 entries wait", "msi-people") { _ in
            health(["audit": PartHealth(.unavailable, "9 entries wait for the audit log, the oldest for 3 min")])
        },
    ]

    // MARK: FCM, the gateway and the canary

    private static func dryRun(_ error: DeliveryError) -> [Finding] { [FCMCheck.finding(error, "the project campus")] }

    private static func gateway(_ answer: GatewayCheck.Answer) async -> [Finding] {
        GatewayCheck(installation: installation(), settings: await settings([:]).values, processes: [], supervisor: nil)
            .findings(of: answer, isAnythingRunning: true)
    }

    static let outside = [
        Fault("a key of Google's that was deleted", .failure, .fcm, "invalid_grant", "make a new one") { _ in
            dryRun(DeliveryError(.oauth, "the token endpoint answered 400 invalid_grant: Invalid JWT Signature."))
        },
        Fault("a clock that the token endpoint refuses", .failure, .fcm, "short-lived", "the machine's clock is wrong") { _ in
            dryRun(DeliveryError(.oauth, "the token endpoint answered 400 invalid_grant: Token must be a short-lived token"))
        },
        Fault("no way to the token endpoint", .failure, .fcm, "NETWORK", "does not reach the token endpoint") { _ in
            dryRun(DeliveryError(.oauth, "the token endpoint gave no answer: NETWORK: refused"))
        },
        Fault("a key of another project", .failure, .fcm, "NOT_FOUND", "another project") { _ in dryRun(DeliveryError(.notFound))
        },
        Fault("a certificate of FCM's that is not trusted", .failure, .fcm, "TLS", "ca-certificates") { _ in
            dryRun(DeliveryError(.tls))
        },
        Fault("FCM's API is not enabled", .failure, .fcm, "PERMISSION_DENIED", "enable the Firebase Cloud Messaging API") { _ in
            dryRun(DeliveryError(.permissionDenied))
        },
        Fault("no way to FCM", .failure, .fcm, "NETWORK", "the firewall") { _ in dryRun(DeliveryError(.network)) },
        Fault("FCM's quota", .warning, .fcm, "QUOTA_EXCEEDED", "a larger quota") { _ in dryRun(DeliveryError(.quotaExceeded)) },
        Fault("a token that is not valid any more", .failure, .gateway, "the token is unknown", "msi account token") { _ in
            await gateway(.failure(GatewayFailure(.notAllowed, "the token is unknown")))
        },
        Fault("another program at the gateway's port", .failure, .gateway, "answers 404", "choose another one") { _ in
            await gateway(.failure(GatewayFailure(.refused, "http://127.0.0.1:8080 answers 404")))
        },
        Fault("a gateway at another port", .failure, .gateway, "was started with port 8090", "MSI_GATEWAY_PORT=8090") { _ in
            await gateway(.elsewhere(process: 7, port: "8090", asked: 8_080))
        },
        Fault("a canary that is silent", .failure, .canary, "has sent nothing", "its log says why") { _ in
            let probe = CanaryProbe(
                topic: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), interval: Seconds(rawValue: 60),
                account: "canary",
                token: Secret("t"), gateway: (url: "", source: ""), isRunning: true, started: nil, usesWebPush: false)
            return [probe.arrival(nil, now: .now)]
        },
    ]
}

/// The faults that operators meet. `msi doctor` names each, together with what to do.
@Suite("Faults that msi doctor names")
struct FaultTests {
    @Test(
        "A fault is named with what to do",
        arguments: Fault.settings + Fault.machine + Fault.services + Fault.answers + Fault.outside)
    func named(fault: Fault) async throws {
        try await withTemporaryFolder { folder in
            let findings = try await fault.look(folder)
            #expect(
                findings.contains {
                    $0.level == fault.level && $0.check == fault.check && $0.found.contains(fault.found)
                        && $0.advice?.contains(fault.advice) == true
                }, "\(findings)")
        }
    }
}
