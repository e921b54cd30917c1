import Bus
import Base
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// The checks of `msi doctor`, each by itself.
@Suite("Doctor")
struct DoctorTests {
    private func settings(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: [])
    }

    private func installation(_ environment: [String: String] = [:]) -> Installation {
        Installation(executables: "/nowhere", environment: environment, isRoot: false)
    }

    @Test(
        "The disk's limits are those of the services: they refuse messages at the reserve, and warn at twice of it",
        arguments: [
            (DiskSpace(free: 1 << 40, total: 1 << 41), Finding.Level.ok), (DiskSpace(free: 500 << 20, total: 1 << 41), .warning),
            (DiskSpace(free: 256 << 20, total: 1 << 41), .failure), (DiskSpace(free: 9 << 20, total: 20 << 20), .warning),
        ])
    func disk(space: DiskSpace, level: Finding.Level) {
        #expect(DiskCheck.finding(space, at: "/").level == level)
        // MongoDB has its own disk.
        #expect(DiskCheck.finding(space, at: "/", isDataElsewhere: true).level == (level == .failure ? .warning : level))
    }

    @Test("Files that others can read are failures which name the command that helps; what is left over is a warning")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let values = try await settings(["MSI_STATE_DIR": folder, "MSI_TOKEN_FILE": folder + "/secret"])
            let check = try FileCheck(installation: installation(), settings: values)
            chmod(folder, 0o700)
            mkdir(folder + "/fcm-emulator", 0o700)
            mkdir(folder + "/identity-emulator", 0o700)
            let keys = ["fcm-emulator/service-account.json", "identity-emulator/keys.json"]
            for name in ["token", "secret", "cube.sqlite"] + keys {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data()))
                chmod("\(folder)/\(name)", 0o600)
            }
            #expect(check.findings.allSatisfy { $0.level == .ok }, "\(check.findings)")

            chmod(folder, 0o755)
            chmod(folder + "/token", 0o640)
            chmod(folder + "/secret", 0o604)
            #expect(FileManager.default.createFile(atPath: folder + "/password", contents: Data()))
            chmod(folder + "/password", 0o644)
            for key in keys { chmod("\(folder)/\(key)", 0o644) }
            let failures = check.findings.filter { $0.level == .failure }
            #expect(
                failures.compactMap(\.advice).map { $0.prefix { $0 != ";" } } == [
                    "chmod 700 \(folder)", "chmod 600 \(folder)/fcm-emulator/service-account.json",
                    "chmod 600 \(folder)/identity-emulator/keys.json", "chmod 600 \(folder)/password",
                    "chmod 600 \(folder)/token", "chmod 600 \(folder)/secret",
                ], "\(failures)")
            #expect(check.findings.contains { $0.level == .warning && $0.found.contains("/password") })

            for name in ["restore.ready", "restore.done", "restore.incomplete"] {
                mkdir("\(folder)/\(name)", 0o700)
                let level: Finding.Level = name == "restore.ready" ? .failure : .warning
                #expect(check.findings.contains { $0.level == level && $0.found.contains("/" + name) && $0.advice != nil })
            }

            unlink(folder + "/secret")
            #expect(check.findings.contains { $0.level == .failure && $0.found.contains("MSI_TOKEN_FILE") })
        }
    }

    @Test("A socket is distinguished from one that was left behind, one that is not there, and one that is not for this user")
    func sockets() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/cube.sock"
            #expect(await EndpointState.look(at: "ipc://" + path) == .missing)
            let descriptor = try Self.listener(at: path, queue: 1)
            #expect(await EndpointState.look(at: "ipc://" + path) == .listening(process: getpid()))
            close(descriptor)
            // A process that another test starts has a copy of it for a moment.
            try await eventually("a socket without a listener") { await EndpointState.look(at: "ipc://" + path) == .stale }
            #expect(await EndpointState.look(at: "ipc://\(folder)/fcm-relay@*.sock") == .missing)
            // As of a process that is stopped: the queue has room for one connection, and keeps it after its client has left.
            let full = try Self.listener(at: folder + "/full.sock", queue: 0)
            defer { close(full) }
            #expect(await EndpointState.look(at: "ipc://\(folder)/full.sock") == .listening(process: getpid()))
            #expect(await EndpointState.look(at: "ipc://\(folder)/full.sock") == .listening(process: nil))
        }
    }

    private static func listener(at path: String, queue: Int32) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = try #require(sockaddr_un(path: path))
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && listen(descriptor, queue) == 0)
        return descriptor
    }

    @Test(
        "At a TCP endpoint a listener is distinguished from a refusal and from a name without an address, and this machine from another one"
    )
    func tcp() async throws {
        let (listener, port) = try loopbackListener()
        defer { close(listener) }
        #expect(await EndpointState.look(at: "tcp://127.0.0.1:\(port)") == .listening(process: nil))
        #expect(await EndpointState.look(at: "tcp://127.0.0.1:\(try LoopbackPort.free())") == .refused)
        guard case .unknownName = await EndpointState.look(at: "tcp://hub.invalid:7101") else {
            Issue.record("hub.invalid has an address")
            return
        }
        for own in ["127.0.0.1", "127.0.1.1", "0.0.0.0", "localhost", "[::ffff:127.0.0.1]"] {
            #expect(await EndpointState.otherHost(of: "tcp://\(own):7101") == nil, "\(own)")
        }
        // TEST-NET-1 (RFC 5737).
        #expect(await EndpointState.otherHost(of: "tcp://192.0.2.7:7101") == "192.0.2.7")
        #expect(await EndpointState.otherHost(of: "ipc:///run/msi/cube.sock") == nil)
    }

    @Test(
        "Without an answer, a process of which nothing can be seen is not to be ended, and an answer of the service is told as it is"
    )
    func noAnswer() async throws {
        func finding(_ failure: CommandFailure, _ state: EndpointState, _ host: String?) async throws -> Finding {
            let instance = BusInstance(.cube, at: "tcp://hub-2:7101", state, otherHost: host)
            return await BusAdvice(
                instance: instance, installation: installation(), settings: try await settings([:]), processes: [],
                supervisor: nil
            ).finding(of: failure)
        }
        let late = CommandFailure(.deadlineExceeded, "no reply from tcp://hub-2:7101 in time, outcome unknown")
        #expect(try await finding(late, .listening(process: nil), "hub-2").advice?.contains("msi doctor on hub-2") == true)
        let unseen = try await finding(late, .listening(process: .max), nil)
        #expect(unseen.found.contains("hangs") && unseen.advice?.contains("end it") == false, "\(unseen)")
        let store = CommandFailure(.unavailable, "the database is away")
        #expect(try await finding(store, .listening(process: nil), nil).found.contains("does not work: the database is away"))
    }

    @Test("What a service says about its settings is read from systemd")
    func unitStatus() throws {
        let output = """
            Id=msi-cube.service
            StatusText=ready; settings read at 2026-11-26T08:00:00Z; needs a restart for MSI_A, MSI_B; the last reload found a mistake: x; y

            StatusText=
            Id=msi-people.service

            """
        let units = UnitState.parse(output)
        let status = try #require(units["msi-cube.service"].flatMap { SettingsStatus($0) })
        #expect(status.needingRestart == ["MSI_A", "MSI_B"] && status.mistake == "x; y")
        #expect(status.read.rawValue == 1_795_680_000_000)
        #expect(units["msi-people.service"] == "")
    }

    @Test("A reload's lines are said once, with the services that they are about")
    func reload() {
        func report(_ lines: String...) -> ReloadReport {
            ReloadReport(notification: lines.map { "X_MSI_RELOAD=" + $0 })!
        }
        let names = ["msi-cube", "msi-people"]
        #expect(
            Reload.lines(["msi-cube": report("A", "B"), "msi-people": report("A")], of: names) == [
                "the settings were read again", "  A (every service)", "  B (msi-cube)",
            ])
        #expect(
            Reload.lines(["msi-cube": report(""), "msi-people": report("")], of: names) == [
                "the settings were read again: nothing has changed"
            ])
        #expect(Reload.lines(["msi-cube": report("")], of: names).last?.contains("msi-people has not said yet") == true)
        #expect(ReloadReport(notification: ["READY=1"]) == nil)
    }

    @Test("The headline of a reload says who has refused the settings")
    func refusedReload() {
        let refused = ReloadReport(notification: ["X_MSI_RELOAD=the settings stay as they were: C is wrong"])!
        let read = ReloadReport(notification: ["X_MSI_RELOAD=A"])!
        let names = ["msi-cube", "msi-people"]
        #expect(
            Reload.lines(["msi-cube": refused, "msi-people": read], of: names) == [
                "the settings were read again, but not by msi-cube", "  the settings stay as they were: C is wrong (msi-cube)",
                "  A (msi-people)",
            ])
        #expect(
            Reload.lines(["msi-cube": refused, "msi-people": refused], of: names) == [
                "the settings have a mistake: nothing has changed",
                "  the settings stay as they were: C is wrong (every service)",
            ])
    }

    @Test(
        "The certificate's dates",
        arguments: [(100 * 86_400.0, Finding.Level.ok), (5 * 86_400, .warning), (-60, .failure)])
    func certificate(lifetime: Double, level: Finding.Level) async throws {
        try await withTemporaryFolder { folder in
            // It was issued two hours ago, so that a fifth of five days is not reached: seen from a later day.
            let now = lifetime == 5 * 86_400 ? Date() + 4.5 * 86_400 : Date()
            try TestCertificate(lifetime: lifetime).write(certificateFile: folder + "/c.pem", keyFile: folder + "/k.pem")
            let check = try CertificateCheck(settings: await settings(["MSI_GATEWAY_TLS_CERTIFICATE_FILE": folder + "/c.pem"]))
            #expect(check.findings(at: now).map(\.level) == [level])
        }
    }

    @Test("The clock is compared with the Date of an answer")
    func clock() throws {
        #expect([0, 4, -30, 400].map { FCMCheck.finding($0).level } == [.ok, .ok, .warning, .failure])
    }

    @Test(
        "A path in advice is one word for a shell",
        arguments: [
            ("/var/lib/msi", "/var/lib/msi"), ("/home/ann/état 1", "'/home/ann/état 1'"), ("/a/it's$HOME", "'/a/it'\\''s$HOME'"),
            ("", "''"),
        ])
    func quoted(text: String, word: String) {
        #expect(text.shellQuoted == word)
    }

    @Test("The report counts, and a foreign text cannot write to the terminal")
    func report() {
        let findings = [
            Finding.ok(.disk, "a"), .warning(.clock, "b", "c"),
            .failure(.fcm, "\u{1b}[2J\u{202e}d", "e"), .failure(.files, "f", "g"),
        ]
        #expect(FindingReport(findings).summary == "2 failures, 1 warning, 1 ok")
        #expect("\(findings[2])" == "failure  FCM            [2Jd\n         → e")
    }
}

/// A socket that listens at a free port of the loopback interface. The caller closes it.
func loopbackListener() throws -> (descriptor: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
        }
    }
    try #require(isBound)
    return (listener, UInt16(bigEndian: address.sin_port))
}
