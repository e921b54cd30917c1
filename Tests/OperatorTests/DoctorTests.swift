import DurableFiles
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
        // MongoDB has a disk of its own.
        #expect(DiskCheck.finding(space, at: "/", isDataElsewhere: true).level == (level == .failure ? .warning : level))
    }

    @Test("An archive near its limit is a warning, and at the limit a failure")
    func archive() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/message-log.sqlite"
            for (bytes, level) in [(800, Finding.Level.ok), (910, .warning), (960, .failure)] {
                try Data(count: bytes).write(to: URL(filePath: file))
                let check = try DiskCheck(
                    settings: await settings(["MSI_STATE_DIR": folder, "MSI_MESSAGE_LOG_STORAGE_LIMIT": "1000"]))
                #expect(check.findings.last?.level == level, "\(check.findings)")
            }
            // With one free page of 512 bytes, as SQLite's header says, it is far from the limit.
            var header = Data("SQLite format 3\0".utf8) + Data(count: 944)
            (header[16], header[39]) = (2, 1)
            try header.write(to: URL(filePath: file))
            let values = try await settings(["MSI_STATE_DIR": folder, "MSI_MESSAGE_LOG_STORAGE_LIMIT": "1000"])
            #expect(try DiskCheck(settings: values).findings.last?.level == .ok)
        }
    }

    @Test("Files that others can read are failures which name the command that helps; what is left over is a warning")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let values = try await settings(["MSI_STATE_DIR": folder, "MSI_TOKEN_FILE": folder + "/secret"])
            let check = try FileCheck(installation: installation(), settings: values)
            chmod(folder, 0o700)
            for name in ["token", "secret", "cube.sqlite"] {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data()))
                chmod("\(folder)/\(name)", 0o600)
            }
            #expect(check.findings.allSatisfy { $0.level == .ok }, "\(check.findings)")

            chmod(folder, 0o755)
            chmod(folder + "/token", 0o640)
            chmod(folder + "/secret", 0o604)
            #expect(FileManager.default.createFile(atPath: folder + "/password", contents: Data()))
            let failures = check.findings.filter { $0.level == .failure }
            #expect(
                failures.compactMap(\.advice).map { $0.prefix { $0 != ";" } } == [
                    "chmod 700 \(folder)", "chmod 600 \(folder)/token", "chmod 600 \(folder)/secret",
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

    @Test("A missing database beside others is a warning")
    func missingDatabase() async throws {
        try await withTemporaryFolder { folder in
            for service in ServiceEntry.all {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(service.executable)", contents: Data()))
                chmod("\(folder)/\(service.executable)", 0o700)
            }
            let state = folder + "/state"
            mkdir(state, 0o700)
            #expect(FileManager.default.createFile(atPath: state + "/cube.sqlite", contents: Data()))
            chmod(state + "/cube.sqlite", 0o600)
            let installed = Installation(executables: folder, environment: [:], isRoot: false)
            let check = try FileCheck(installation: installed, settings: await settings(["MSI_STATE_DIR": state]))
            #expect(check.findings.map(\.level) == [.warning])
            #expect(check.findings.first?.found.contains("people.sqlite, message-log.sqlite") == true, "\(check.findings)")
        }
    }

    @Test("A socket is told from one that was left behind, one that is not there, and one that is not for this user")
    func sockets() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/cube.sock"
            #expect(BusSocketState(of: "ipc://" + path) == .missing)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = try #require(sockaddr_un(path: path))
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isBound && listen(descriptor, 1) == 0)
            #expect(BusSocketState(of: "ipc://" + path) == .listening)
            close(descriptor)
            #expect(BusSocketState(of: "ipc://" + path) == .stale)
            #expect(BusSocketState(of: "ipc://\(folder)/fcm-relay@*.sock") == .missing)
            #expect(BusSocketState(of: "tcp://127.0.0.1:9") == .listening)
        }
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

    @Test(
        "An error of the dry run is explained by its cause",
        arguments: [
            (DeliveryError(.oauth, "the token endpoint answered 400 invalid_grant: Invalid JWT Signature."), "the key is wrong"),
            (DeliveryError(.oauth, "the token endpoint answered 400 invalid_grant: Token must be a short-lived token"), "clock"),
            (DeliveryError(.oauth, "the token endpoint gave no answer: NETWORK: refused"), "token endpoint"),
            (DeliveryError(.permissionDenied), "Firebase Cloud Messaging API"), (DeliveryError(.notFound), "another project"),
            (DeliveryError(.network), "firewall"), (DeliveryError(.tls), "ca-certificates"),
            (DeliveryError(.quotaExceeded), "quota"),
        ])
    func dryRun(error: DeliveryError, advice: String) {
        let finding = FCMCheck.finding(error, "the project p")
        #expect(finding.advice?.contains(advice) == true, "\(finding)")
        #expect(finding.level == (error.catalogued == .quotaExceeded ? .warning : .failure))
    }

    @Test("The clock is compared with the Date of an answer")
    func clock() throws {
        #expect(HTTPDateText("Sun, 06 Nov 1994 08:49:37 GMT")?.seconds == 784_111_777)
        #expect(HTTPDateText("1994-11-06") == nil)
        #expect([0, 4, -30, 400].map { FCMCheck.finding($0).level } == [.ok, .ok, .warning, .failure])
    }

    @Test("The report counts, and a foreign text cannot write to the terminal")
    func report() {
        let findings = [
            Finding.ok(.disk, "a"), .warning(.clock, "b", "c"), .failure(.fcm, "\u{1b}[2Jd", "e"), .failure(.files, "f", "g"),
        ]
        #expect(FindingReport(findings).summary == "2 failures, 1 warning, 1 ok")
        #expect("\(findings[2])" == "failure  FCM            [2Jd\n         → e")
    }
}
