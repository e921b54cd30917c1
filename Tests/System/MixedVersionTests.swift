import Base
import FoundationEssentials
import Glibc
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// Version 1.0.0, which knows neither students nor classes, beside this one on the same data.
    @Suite("Version 1.0.0 and this one mixed", .atLength, .timeLimit(.minutes(120)))
    struct MixedVersionTests {
        /// The folder of that version's executables, which are built once.
        private static let executables = Task {
            try await withTemporaryFolder { folder in
                let script = try BuiltProduct.packageFolder() + "Tests/Chaos/earlier"
                let build = try await ChildProcess(
                    URL(filePath: script),
                    environment: ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MSI_") },
                    logFile: folder + "/build.log")
                let status = await build.end()
                guard status == 0, let path = build.log.split(separator: "\n").last else {
                    throw TooLate("version 1.0.0 cannot be built: \(build.log.suffix(2_000))")
                }
                return URL(filePath: String(path), directoryHint: .isDirectory)
            }
        }

        /// The services one by one, each of either version.
        private final class Product {
            let folder: String
            let gatewayPort: Int
            private let old: URL
            private let settings: [String: [String: String]]
            private var running: [String: ServiceProcess] = [:]

            init(in folder: String, old: URL) throws {
                self.folder = folder
                self.old = old
                gatewayPort = try FreePort.choose()
                let fcm = try FreePort.choose()
                let emulator = EmulatorAccess(port: fcm, stateDirectory: folder)
                settings = [
                    "msi-fcm-emulator": ["MSI_FCM_EMULATOR_PORT": "\(fcm)"], "msi-fcm-relay": emulator.settings,
                    "msi-people": ["MSI_REGISTRATION": "anyone"],
                    "msi-gateway": SystemTests.noLimits.merging(["MSI_GATEWAY_PORT": "\(gatewayPort)"]) { $1 },
                ]
            }

            /// Stops a service if it runs, and starts it as either version.
            func start(_ name: String, isOld: Bool) async throws {
                try await stop(name)
                running[name] = try await ServiceProcess(
                    name, in: folder, settings: settings[name] ?? [:], executables: isOld ? old : ServiceProcess.executables)
                if name == "msi-people" { try await TestOperator.setUp(in: folder) }
            }

            func stop(_ name: String) async throws {
                guard let process = running.removeValue(forKey: name) else { return }
                let status = await process.stop()
                #expect(status == 0, "\(name): \(process.log.suffix(1_000))")
            }

            func end() async { for process in running.values { await process.kill() } }

            /// What the services have logged as errors.
            var errors: [String] {
                let lines = running.values.map(\.log).joined(separator: "\n").split(separator: "\n")
                return lines.filter { $0.contains("\"level\":\"error\"") }.map { String($0) }
            }
        }

        private static let services = [
            "msi-fcm-emulator", "msi-cube", "msi-people", "msi-message-log", "msi-fcm-relay", "msi-gateway",
        ]

        private func withOldProduct(_ body: (Product, Portal) async throws -> Void) async throws {
            let old = try await Self.executables.value
            StackCount.started("services of 1.0.0 without msi up")
            try await withTemporaryFolder { folder in
                let product = try Product(in: folder, old: old)
                try await perform {
                    for name in Self.services { try await product.start(name, isOld: name != "msi-fcm-emulator") }
                    try await withHTTPClient(trusting: folder + "/fcm-emulator/ca.pem") { http in
                        let portal = Portal(port: product.gatewayPort, http: http, token: try TestOperator.token(in: folder))
                        try await body(product, portal)
                    }
                } finally: {
                    await product.end()
                }
            }
        }

        /// Whether the staff works as ever: who was signed in is, and messages go out.
        private func expectStaff(_ staff: Communicator, _ subject: SubjectPath, _ portal: Portal, _ what: Comment) async throws {
            try await eventually("\(what): a post") { try await staff.post(to: subject).status == 201 }
            try await expectPeople(portal)
            let accounts = try await portal.all("accounts", at: "/account?limit=200").compactMap { $0["account"]?.string }
            #expect(accounts == ["admin", "dora"], what)
            #expect(try await staff.call(.GET, "/session").status == 200, what)
        }

        /// Waits until the gateway reaches a people service that was started again.
        private func expectPeople(_ portal: Portal) async throws {
            try await eventually("people") { try await portal.call(.GET, "/account?limit=1").status == 200 }
        }

        @Test("The gateway is the earlier one, and people this one")
        func oldGateway() async throws {
            try await withOldProduct { product, portal in
                let subject = try await portal.makeSubject("Alert")
                let dora = try await Communicator("dora", portal)
                try await expectStaff(dora, subject, portal, "1.0.0")
                try await product.start("msi-people", isOld: false)
                try await expectStaff(dora, subject, portal, "with another people service")

                // A second gateway is of this version: it has the students' routes.
                let second = try await ServiceProcess(
                    "msi-gateway", in: product.folder,
                    settings: [
                        "MSI_STATE_DIR": product.folder + "/second", "MSI_RUNTIME_DIR": product.folder + "/run",
                        "MSI_GATEWAY_PORT": "0",
                    ])
                let new = Portal(port: try second.port, http: portal.http, token: portal.token)
                let ann = try await TestStudent.register("ann", at: new)
                #expect(try await ann.call(.GET, "/user").status == 200)
                #expect(try await ann.at(portal).call(.GET, "/user").status == 404)
                // The token of a device is none that the earlier gateway knows.
                #expect(try await ann.at(portal).call(.GET, "/message").status == 401)
                #expect(try await portal.call(.GET, "/account/ann").status == 404)
                let students = try await new.all("accounts", at: "/account?role=student").compactMap { $0["account"]?.string }
                #expect(students == ["ann"])
                try await expectStaff(dora, subject, portal, "with a student")
                try await expectStaff(dora.at(new), subject, new, "at the second gateway")

                // Neither does it know classes, with or without their service.
                for isThere in [false, true] {
                    if isThere { try await product.start("msi-study", isOld: false) }
                    #expect(try await ann.at(portal).call(.GET, "/user/classes").status == 404)
                    try await expectStaff(dora, subject, portal, "with the study service: \(isThere)")
                }
                try await eventually("classes at the second gateway") {
                    try await ann.call(.GET, "/user/classes").status == 200
                }

                try await product.stop("msi-study")
                try await product.start("msi-gateway", isOld: false)
                try await expectStaff(dora, subject, portal, "after the upgrade of the gateway")
                #expect(try await ann.at(portal).call(.GET, "/user").status == 200)
                #expect(try await ann.at(portal).call(.GET, "/user/classes").status == 503)
                #expect(try await portal.call(.GET, "/health").json["status"] == "degraded")
                try await product.start("msi-study", isOld: false)
                try await eventually("classes") { try await ann.at(portal).call(.GET, "/user/classes").status == 200 }
                #expect(product.errors.isEmpty, "\(product.errors)")
                #expect(await second.stop() == 0)
            }
        }

        @Test("The gateway is this one, and people the earlier one: before an upgrade, and after a rollback")
        func oldPeople() async throws {
            try await withOldProduct { product, portal in
                let subject = try await portal.makeSubject("Alert")
                let dora = try await Communicator("dora", portal)
                try await product.start("msi-gateway", isOld: false)
                try await expectStaff(dora, subject, portal, "before the upgrade of people")
                for path in ["/user/providers", "/user/challenge", "/account?role=student"] {
                    let answer = try await portal.call(.GET, path)
                    #expect(answer.status == 503, "\(path): \(answer)")
                }

                try await product.start("msi-people", isOld: false)
                try await expectPeople(portal)
                let ann = try await TestStudent.register("ann", at: portal)
                let bob = try await TestStudent.register("bob", at: portal)
                #expect(try await bob.call(.DELETE, "/user/devices/\(bob.id)").status == 204)
                #expect(try await ann.call(.GET, "/user").status == 200)

                try await product.start("msi-people", isOld: true)
                try await expectStaff(dora, subject, portal, "after the rollback of people")
                // The gateway takes the token, and people does not know the command. Who was signed out stays so.
                #expect(try await ann.call(.GET, "/user").status == 503)
                #expect(try await bob.call(.GET, "/user").status == 401)
                let taken = try await portal.call(
                    .POST, "/account", ["account": "ann", "password": "copper-lantern-orchard", "role": "communicator"])
                #expect(taken.status == 409 || taken.status >= 500, "the name of a student is not given to anyone: \(taken)")

                try await product.start("msi-people", isOld: false)
                try await eventually("the student is signed in") { try await ann.call(.GET, "/user").status == 200 }
                #expect(try await ann.renewed().call(.GET, "/user").status == 200)
                #expect(try await bob.exchange().status == 401)
                try await expectStaff(dora, subject, portal, "after the second upgrade of people")
            }
        }
    }
}
