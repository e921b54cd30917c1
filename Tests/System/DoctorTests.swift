import FoundationEssentials
import Glibc
import Base
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `msi doctor` while nothing runs.
    @Suite("msi doctor")
    struct DoctorTests {
        @Test("MongoDB's answer and clock are checked, and its absence is a failure")
        func database() async throws {
            try await withMongoServer { server in
                try await withTemporaryFolder { folder in
                    let settings = [
                        "MSI_STATE_DIR": folder + "/state", "MSI_GATEWAY_PORT": "\(try LoopbackPort.free())",
                        "MSI_DATABASE_URL": server.url(database: "campus"),
                    ]
                    let well = try await DoctorReport(settings)
                    #expect(well.has("ok", "database", "campus") && well.has("ok", "clock", "MongoDB"), "\(well.findings)")
                    await server.kill()
                    let away = try await DoctorReport(settings)
                    #expect(away.code == 1 && away.has("failure", "database", "is the server running"), "\(away.findings)")
                }
            }
        }

        @Test("It works while nothing runs, says how to start, and makes nothing")
        func nothing() async throws {
            try await withTemporaryFolder { folder in
                let environment = [
                    "MSI_STATE_DIR": folder + "/state", "MSI_GATEWAY_PORT": "\(try LoopbackPort.free())",
                    "MSI_FCM_EMULATOR_PORT": "\(try LoopbackPort.free())",
                ]
                let report = try await DoctorReport(environment)
                #expect(report.code == 0, "\(report.failures)")
                #expect(report.has("warning", "sockets", "not running", "deploy/run"), "\(report.findings)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/state"))
            }
        }

        @Test("An expired certificate, an invalid setting and a mistyped one are failures")
        func settings() async throws {
            try await withTemporaryFolder { folder in
                try TestCertificate(lifetime: -60).write(certificateFile: folder + "/c.pem", keyFile: folder + "/k.pem")
                let environment = ["MSI_STATE_DIR": folder + "/state", "MSI_GATEWAY_PORT": "\(try LoopbackPort.free())"]
                let expired = try await DoctorReport(
                    environment.merging([
                        "MSI_GATEWAY_TLS_CERTIFICATE_FILE": folder + "/c.pem", "MSI_GATEWAY_TLS_KEY_FILE": folder + "/k.pem",
                    ]) { $1 })
                #expect(expired.code == 1 && expired.has("failure", "certificate", "expired on"), "\(expired.findings)")
                let invalid = try await DoctorReport(environment.merging(["MSI_GATEWAY_HOST": "0.0.0.0"]) { $1 })
                #expect(invalid.has("failure", "configuration", "msi-gateway", "MSI_GATEWAY_HOST"), "\(invalid.findings)")
                let mistyped = try await DoctorReport(environment.merging(["MSI_GATEWAY_PROT": "1"]) { $1 })
                #expect(mistyped.code == 1 && mistyped.has("failure", "configuration", "did you mean"), "\(mistyped.findings)")
            }
        }

        @Test("After a mistake the other checks go on, and what several services say is one finding that names them")
        func mistakes() async throws {
            try await withTemporaryFolder { folder in
                let environment = ["MSI_STATE_DIR": folder + "/state", "MSI_GATEWAY_PORT": "\(try LoopbackPort.free())"]
                let file = folder + "/msi.env"
                try Data("MSI_GATEWAY_PROT=1\nMSI_LOG_LEVEL=debug\n".utf8).write(to: URL(filePath: file))
                let mistyped = try await DoctorReport(
                    environment.merging(["MSI_CONFIG_FILE": file, "MSI_LOG_LEVEL": "info"]) { $1 })
                let findings = mistyped.findings.filter { $0[2].contains("did you mean MSI_GATEWAY_PORT?") }
                #expect(findings.count == 1, "\(mistyped.findings)")
                #expect(
                    findings.first?[2].contains("msi-cube") == true && findings.first?[3].contains(file) == true, "\(findings)")
                #expect(mistyped.has("ok", "disk") && mistyped.has("warning", "sockets", "not running"), "\(mistyped.findings)")
                // The environment counts.
                #expect(
                    mistyped.has("warning", "configuration", "MSI_LOG_LEVEL in \(file) has no effect"), "\(mistyped.findings)")

                let invalid = try await DoctorReport(
                    environment.merging(["MSI_LOG_LEVEL": "loud", "MSI_GATEWAY_PORT": "http"]) { $1 })
                let loud = invalid.findings.filter { $0[2].contains("MSI_LOG_LEVEL: expected") }
                #expect(loud.count == 1 && loud.first?[2].contains("msi-people") == true, "\(invalid.findings)")
                #expect(invalid.has("warning", "gateway", "not checked") && invalid.has("ok", "disk"), "\(invalid.findings)")
            }
        }

        @Test(
            "After a start that has failed, the service that could not start is named with its last words, and so is a taken port"
        )
        func failedStart() async throws {
            try await withTemporaryFolder { folder in
                let state = folder + "/state"
                try FileManager.default.createDirectory(
                    atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                // The beginning is that of a database.
                try (Data("SQLite format 3\0".utf8) + Data(repeating: 7, count: 8_192)).write(
                    to: URL(filePath: state + "/people.sqlite"))
                let (gateway, emulator) = (try LoopbackPort.free(), try LoopbackPort.free())
                let environment = [
                    "MSI_STATE_DIR": state, "MSI_GATEWAY_PORT": "\(gateway)", "MSI_FCM_EMULATOR_PORT": "\(emulator)",
                ]
                let end = try await runProgram("msi", ["up"], environment: environment)
                #expect(end.exitCode == 1, "\(end.lines)")
                let report = try await DoctorReport(environment)
                #expect(
                    report.has("failure", "sockets", "msi-people does not run. The last msi up has noted"), "\(report.findings)")
                #expect(report.failures.count { $0[1] == "sockets" } == 1, "\(report.failures)")
                let other = try await DoctorReport(environment.merging(["MSI_STATE_DIR": folder + "/other"]) { $1 })
                #expect(other.code == 0, "\(other.failures)")
                // Another program listens there.
                try await withTCPProxy(to: gateway) { listener in
                    let settings = ["MSI_STATE_DIR": folder + "/other", "MSI_FCM_EMULATOR_PORT": "\(listener.port)"]
                    let taken = try await DoctorReport(environment.merging(settings) { $1 })
                    #expect(
                        taken.code == 1 && taken.has("failure", "processes", "port \(listener.port)", "MSI_FCM_EMULATOR_PORT"),
                        "\(taken.findings)")
                }
            }
        }
    }
}

extension HarmTests.HarmedProduct {
    /// `msi doctor` while the product runs.
    @Suite("msi doctor beside msi up")
    struct RunningDoctorTests {
        @Test(
            "A healthy stack has no failure, with each service, the gateway and a dry run of FCM; single faults are named, with what to do"
        )
        func stack() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let sent = try await stack.fcm.acceptedSends().count
            let well = try await DoctorReport(of: stack)
            #expect(well.code == 0 && well.failures.isEmpty, "\(well.failures)")
            for service in ServiceEntry.all.map(\.executable) {
                #expect(well.has("ok", "configuration", service), "\(service): \(well.findings)")
            }
            for service in ["msi-cube", "msi-people", "msi-message-log", "msi-broadcast", "msi-study", "msi-fcm-relay"] {
                #expect(well.has("ok", "sockets", service), "\(service): \(well.findings)")
            }
            for check in ["disk", "processes", "gateway", "versions", "FCM", "students", "study"] {
                #expect(well.has("ok", check), "\(well.findings)")
            }
            for provider in ["Google", "Firebase", "Facebook"] {
                #expect(well.has("ok", "sign-in", "\(provider) answers at http://127.0.0.1:"), "\(well.findings)")
            }
            // The dry run reaches no phone.
            #expect(try await stack.fcm.acceptedSends().count == sent)

            let token = stack.stateDirectory + "/token"
            chmod(token, 0o644)
            let open = try await DoctorReport(of: stack)
            #expect(open.code == 1 && open.failures.count == 1, "\(open.failures)")
            #expect(open.has("failure", "files", token, "chmod 600 '\(token)'"))
            chmod(token, 0o600)

            let frozen = try await stack.whileFrozen("msi-fcm-relay") { try await DoctorReport(of: stack) }
            #expect(frozen.code == 1)
            #expect(frozen.has("failure", "sockets", "msi-fcm-relay", "msi-fcm-relay.log"), "\(frozen.failures)")
            #expect(frozen.has("failure", "sockets", "is stopped (SIGSTOP", "kill -CONT"), "\(frozen.failures)")
            let stopped = try await stack.whileFrozen("msi-gateway") { try await DoctorReport(of: stack) }
            #expect(stopped.has("failure", "processes", "msi-gateway", "kill -CONT"), "\(stopped.failures)")
            #expect(frozen.has("warning", "FCM"), "\(frozen.findings)")
            let phone = try await stack.whileFrozen("msi-phone") { try await DoctorReport(of: stack) }
            #expect(phone.has("failure", "processes", "msi-phone", "kill -CONT"), "\(phone.findings)")

            stack.program.signal(SIGSTOP)
            // Otherwise a failure could not end it.
            defer { stack.program.signal(SIGCONT) }
            try await eventually("a stopped msi up") {
                try await DoctorReport(of: stack).has("failure", "processes", "msi up (process", "kill -CONT")
            }
        }

        @Test(
            "Of a stack whose state directory is in the configuration file the processes are found, and a reload ends the warning about a change, at any level of the log"
        )
        func reload() async throws {
            let stack = try SharedStack.current
            let file = stack.configuration
            try await stack.healthy()
            try file.write(level: "error")
            try await stack.reload(until: "  MSI_LOG_LEVEL has changed from info to error (every service)")
            func report() async throws -> DoctorReport {
                try await DoctorReport([
                    "MSI_CONFIG_FILE": file.path, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
                    "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)",
                ])
            }
            let well = try await report()
            #expect(well.has("ok", "processes", "processes run") && well.failures.isEmpty, "\(well.findings)")
            try await eventually("a change in another second") {
                try file.write(level: "error", "MSI_MESSAGE_RETENTION=400\n")
                return try await report().has(
                    "warning", "configuration", "has changed since these have read it", "msi-cube")
            }
            stack.program.signal(SIGHUP)
            try await eventually("every service has read it") {
                try await !report().has("warning", "configuration", "has changed since")
            }
            // What waits for a restart is named without systemd, too.
            try file.write(level: "error", "MSI_GATEWAY_MAX_CONNECTIONS=77\n")
            stack.program.signal(SIGHUP)
            try await eventually("a setting that waits for a restart") {
                try await report().has(
                    "warning", "configuration", "msi-gateway still works with the old values of MSI_GATEWAY_MAX_CONNECTIONS")
            }
            let other = try await DoctorReport([
                "MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
            ])
            #expect(
                other.has(
                    "warning", "configuration", "this command reads no configuration file", "MSI_CONFIG_FILE=", file.path),
                "\(other.findings)")
            try file.write()
            try await stack.reload(until: "  MSI_LOG_LEVEL has changed from error to info (every service)")
        }
    }
}

extension HarmTests.WithoutSupervisor {
    /// `msi doctor` while the services run one by one.
    @Suite("msi doctor without msi up")
    struct SeparateDoctorTests {
        @Test("A relay that was killed has left its socket; a wrong key is found by the dry run, with the new key as the remedy")
        func relays() async throws {
            try await SharedServices.use { services in
                let relay = try await services.start("msi-fcm-relay")
                _ = try await services.start("msi-message-log")
                let environment = [
                    "MSI_STATE_DIR": services.folder, "MSI_GATEWAY_PORT": "\(services.portal.port)",
                    "MSI_FCM_EMULATOR_PORT": "\(services.fcm.port)",
                ]
                #expect(try await DoctorReport(environment).has("ok", "FCM", "accepts a dry run"))
                await relay.kill()
                let killed = try await DoctorReport(environment)
                #expect(
                    killed.code == 1 && killed.has("failure", "sockets", "msi-fcm-relay", "left behind"), "\(killed.failures)")

                let key = services.folder + "/wrong.json"
                try await ServiceAccountFile.json(tokenURI: "https://127.0.0.1:\(services.fcm.port)/token")
                    .write(to: URL(filePath: key))
                chmod(key, 0o600)
                let wrong = try await services.start("msi-fcm-relay", settings: ["MSI_FCM_SERVICE_ACCOUNT_FILE": key])
                let refused = try await DoctorReport(
                    environment.merging([
                        "MSI_FCM_SERVICE_ACCOUNT_FILE": key, "MSI_FCM_ENDPOINT": "https://127.0.0.1:\(services.fcm.port)",
                        "MSI_FCM_CA_FILE": services.folder + "/fcm-emulator/ca.pem",
                    ]) { $1 })
                #expect(refused.has("failure", "FCM", "campus-test", "OAUTH", "make a new one"), "\(refused.findings)")
                await wrong.kill()
            }
        }

        @Test("A service that listens elsewhere than it is looked for is distinguished from one that is not running")
        func elsewhere() async throws {
            try await SharedServices.use { services in
                let other = "ipc://\(services.folder)/other.sock"
                _ = try await services.start("msi-fcm-relay", settings: ["MSI_FCM_RELAY_LISTEN": other])
                let environment = ["MSI_STATE_DIR": services.folder, "MSI_GATEWAY_PORT": "\(services.portal.port)"]
                let report = try await DoctorReport(environment)
                #expect(
                    report.has(
                        "failure", "sockets", "msi-fcm-relay runs (process", "listens at \(other)", "MSI_FCM_RELAY_ENDPOINTS"),
                    "\(report.failures)")
            }
        }
    }
}
