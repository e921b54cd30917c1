import Base
import FoundationEssentials
import Glibc
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension SystemTests {
    /// A student's device over a long time, with the services that it needs as separate processes.
    @Suite("Students")
    struct StudentsTests {
        private static let services = ["msi-fcm-emulator", "msi-cube", "msi-people", "msi-gateway"]

        /// The gateway keeps its port over a restart, as the phone expects.
        private struct Product {
            let folder: String
            let portal: Portal
            let settings: [String: [String: String]]
            let running: [ServiceProcess]

            /// Stops a service that is running, and starts it again on the same data.
            func restart(_ process: ServiceProcess) async throws -> ServiceProcess {
                #expect(await process.stop() == 0, "\(process.name): \(process.log.suffix(1_000))")
                return try await ServiceProcess(process.name, in: folder, settings: settings[process.name] ?? [:])
            }

            func phone() async throws -> (process: ServiceProcess, page: Portal) {
                let process = try await ServiceProcess("msi-phone", in: folder, settings: settings["msi-phone"] ?? [:])
                return (process, Portal(port: try process.port, http: portal.http, token: nil))
            }
        }

        /// - Parameter body: Gets the clock of people and gateway.
        private func withProduct(_ body: (Product, FakeClock) async throws -> Void) async throws {
            StackCount.started("services without msi up")
            try await withTemporaryFolder { folder in
                try await TestOperator.prepare(folder)
                let clock = try FakeClock(in: folder)
                let (gateway, fcm) = (try FreePort.choose(), try FreePort.choose())
                let ports = ["MSI_GATEWAY_PORT": "\(gateway)", "MSI_FCM_EMULATOR_PORT": "\(fcm)"]
                let shifted = SystemTests.noLimits.merging(clock.settings) { $1 }
                let settings = [
                    "msi-fcm-emulator": ports, "msi-people": shifted.merging(["MSI_REGISTRATION": "anyone"]) { $1 },
                    "msi-gateway": shifted.merging(ports) { $1 }, "msi-phone": ports.merging(["MSI_PHONE_PORT": "0"]) { $1 },
                ]
                try await withServices(Self.services, in: folder) { name, _ in
                    settings[name] ?? [:]
                } _: { running in
                    try await withHTTPClient(trusting: folder + "/fcm-emulator/ca.pem") { http in
                        let portal = Portal(port: gateway, http: http, token: try TestOperator.token(in: folder))
                        try await body(
                            Product(folder: folder, portal: portal, settings: settings, running: running), clock)
                    }
                }
            }
        }

        @Test(
            "A person stays signed in while the phone is killed, people and the gateway are started again, and thirty days pass",
            .timeLimit(.minutes(10)), .enabled(if: FakeClock.isPossible))
        func thirtyDays() async throws {
            try await withProduct { product, clock in
                let month = 30 * 86_400
                var phone = try await product.phone()
                try await signIn("ann", at: phone.page)
                let before = try await phone.page.call(.GET, "/account/person").json
                #expect(before["account"] == "ann" && before["role"] == "student", "\(before)")
                await phone.process.kill()

                let people = try await product.restart(product.running[2])
                let gateway = try await product.restart(product.running[3])
                try clock.set(ahead: month)
                phone = try await product.phone()
                let control = try await phone.page.call(.PUT, "/control", ["clock_offset": .integer(month)])
                #expect(control.status == 200, "\(control)")
                try await eventually("the person is known a month later") {
                    try await phone.page.call(.GET, "/account/person").status == 200
                }
                #expect(try await phone.page.call(.GET, "/account/person").json == before)
                // The hub still lists one device, which was used today.
                let devices = try await product.portal.call(.GET, "/account/ann/devices").json["devices"]?.elements ?? []
                #expect(devices.count == 1 && devices.first?["platform"] == "android", "\(devices)")
                let seen = devices.first?["seen"]?.integer ?? 0
                #expect(seen > Int64.nowInMilliseconds + Int64(month - 2 * 86_400) * 1_000, "\(devices)")
                for process in [phone.process, gateway, people] { #expect(await process.stop() == 0) }
            }
        }
    }
}

extension HarmTests.WithoutSupervisor {
    /// What ends the sign-in of a student's device.
    @Suite("Sign-ins of devices", .timeLimit(.minutes(10)))
    struct DeviceSignInTests {
        @Test("A device that is signed out elsewhere is out within a second, at each gateway, and its stream of events ends")
        func revoked() async throws {
            try await SharedServices.use { services in
                let portal = services.portal
                let (second, other) = try await services.startGateway(in: "second-of-students", settings: SystemTests.noLimits)
                let phone = try await services.start(
                    "msi-phone",
                    settings: [
                        "MSI_GATEWAY_PORT": "\(portal.port)", "MSI_FCM_EMULATOR_PORT": "\(services.fcm.port)",
                        "MSI_PHONE_PORT": "0",
                    ])
                let page = Portal(port: try phone.port, http: portal.http, token: nil)
                try await signIn("ben", at: page)
                let lost = try await TestStudent.signIn("ben", at: portal)
                let kept = try await TestStudent.signIn("ben", at: other)
                for student in [lost, lost.at(other), kept] { #expect(try await student.call(.GET, "/user").status == 200) }

                let header = ["Authorization": "Bearer \(lost.portal.token ?? "")"]
                try await EventStreamClient.with(
                    "http://127.0.0.1:\(other.port)/user/events", headers: header, http: other.http
                ) { stream in
                    #expect(stream.status == 200)
                    let begin = ContinuousClock.now
                    #expect(try await kept.call(.DELETE, "/user/devices/\(lost.id)").status == 204)
                    // At the gateway that was asked it counts at once.
                    #expect(try await lost.at(other).call(.GET, "/user").status == 401)
                    try await eventually("the other gateway knows") { try await lost.call(.GET, "/user").status == 401 }
                    try await eventually("the stream has ended") { stream.hasEnded }
                    let passed = ContinuousClock.now - begin
                    // A second is promised to a machine that is not busy.
                    #expect(passed < .seconds(10), "\(passed)")
                }
                let again = try await lost.exchange()
                #expect(try again.status == 401 && again.json["field"] == "device", "\(again)")
                #expect(try await kept.call(.GET, "/user").status == 200)

                // A super user signs everything out; the phone's app forgets the person at its next request.
                #expect(try await portal.call(.DELETE, "/account/ben/devices").status == 204)
                try await eventually("the phone is signed out") { try await page.call(.GET, "/account/person").status == 401 }
                let state = try JSONValue(parsing: Data(contentsOf: URL(filePath: services.folder + "/phones/phone.json")))
                #expect(state["key"] == nil, "the key is gone")
                #expect(try await kept.at(portal).call(.GET, "/user").status == 401)
                for process in [phone, second] { #expect(await process.stop() == 0) }
            }
        }

        @Test("An old key that was forgotten after a theft counts no more, and every device gets another token")
        func forgottenKeys() async throws {
            try await SharedServices.use { services in
                let student = try await TestStudent.register("carl", at: services.portal)
                #expect(try await student.call(.GET, "/user").status == 200)
                let rotated = try await msi(["keys", "tokens", "--forget"], in: services.folder)
                #expect(rotated.exitCode == 0, "\(rotated.lines)")
                try await eventually("the token does not count") { try await student.call(.GET, "/user").status == 401 }
                try await eventually("a new one does") { try await student.renewed().call(.GET, "/user").status == 200 }
            }
        }
    }
}

/// Registers a student on a simulated phone, and signs the student in there.
private func signIn(_ account: String, at page: Portal) async throws {
    let body: JSONValue = ["account": .string(account), "password": .string(TestStudent.password)]
    for method in [HTTPMethod.POST, .PUT] {
        let answer = try await page.call(method, "/account", body)
        #expect(answer.status == 204, "\(method): \(answer)")
    }
}
