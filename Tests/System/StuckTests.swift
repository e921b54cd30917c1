import Base
import NIOCore
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension HarmTests.WithoutSupervisor {
    /// What a monitoring system, the operator and the watchdog learn of a service that is stuck.
    @Suite("Stuck services", .enabled(if: HeldThreads.isPossible), .timeLimit(.minutes(10)))
    struct StuckTests {
        /// The status of `/livez` or `/readyz`, and its JSON.
        private func ask(_ path: String, at port: Int, _ portal: Portal) async throws -> (status: Int, state: JSONValue) {
            let answer = try await portal.http.answer(
                .GET, "http://127.0.0.1:\(port)/\(path)", headers: [:], body: nil, within: .seconds(60))
            return (answer.status, try answer.json)
        }

        @Test(
            "A write that hangs is named by /readyz, the gateway and msi status, and in the end stops the watchdog's notifications; the disk's return ends it"
        )
        func writer() async throws {
            try await SharedServices.use { services in
                let manager = try NotificationSocket(at: services.folder + "/notify")
                let port = try LoopbackPort.free()
                let log = try await services.start(
                    "msi-message-log",
                    settings: [
                        "MSI_METRICS_PORT": "\(port)", "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "3000000",
                    ])
                let portal = services.portal
                try await eventually("a notification") { manager.receiveAll().contains { $0.contains("WATCHDOG=1") } }
                try await eventually("it is well") { (try? await ask("livez", at: port, portal).status) == 200 }
                let subject = try await portal.makeSubject("Information")

                try await HeldThreads.hold(log, in: "fsync,fdatasync") {
                    #expect(try await portal.post(subject.message()).status == 503)
                    try await eventually("the part is named") {
                        let (status, state) = try await ask("readyz", at: port, portal)
                        guard status == 503, let part = state["parts"]?["store"] else { return false }
                        #expect(part["status"] == "deadline_exceeded")
                        let message = try #require(part["message"]?.string)
                        let sentence = /a write to message-log\.sqlite has not ended for \d+ s/
                        #expect(message.wholeMatch(of: sentence) != nil, "\(message)")
                        return true
                    }
                    // It may still be a large write to a slow disk.
                    #expect(try await ask("livez", at: port, portal).status == 200)
                    try await eventually("the gateway notices it") {
                        let health = try await portal.call(.GET, "/health").json
                        return health["services"]?["message-log"] == "deadline_exceeded"
                            && health["parts"]?["message-log"]?["store"]?["message"]?.string?.contains("message-log.sqlite")
                                == true
                    }
                    let status = try await msi(["status"], in: services.folder, ["MSI_GATEWAY_PORT": "\(portal.port)"])
                    #expect(status.lines.contains { $0.contains("store") && $0.contains("a write to message-log.sqlite") })
                    // After a minute. With a shorter time `SelfCheckTests` and `WatchdogTests` prove it.
                    if Level.isAll { try await expectSilence(of: manager, at: port, portal) }
                }
                try await eventually("it works again") {
                    let status = try await ask("readyz", at: port, portal).status
                    return status == 200 && manager.receiveAll().contains { $0.contains("WATCHDOG=1") }
                }
                #expect(try await portal.post(subject.message()).status == 201)
                #expect(await log.stop() == 0)
            }
        }

        /// Waits until the write counts as stuck, and expects that the watchdog is told so, and not that the service lives.
        private func expectSilence(of manager: NotificationSocket, at port: Int, _ portal: Portal) async throws {
            try await eventually("the write counts as stuck") {
                try await ask("livez", at: port, portal).status == 503
            }
            // The check that was under way when the write became too old has ended then.
            try await eventually("a check that fails") {
                manager.receiveAll().contains { $0.contains("STATUS=the service does not answer itself: store") }
            }
            var texts: [String] = []
            try await eventually("the next checks") {
                texts += manager.receiveAll()
                return texts.count { $0.contains("STATUS=the service does not answer itself: store") } >= 2
            }
            #expect(!texts.contains { $0.contains("WATCHDOG=1") })
        }

        @Test(
            "A thread that is stuck does not keep /livez from answering, which names it",
            arguments: [
                ("msi-bus", "poll", "bus_thread"), ("NIO-SGLTN-", "epoll_wait,epoll_pwait,epoll_pwait2", "event_loop_"),
            ])
        func thread(_ thread: String, calls: String, part: String) async throws {
            try await SharedServices.use { services in
                let port = try LoopbackPort.free()
                let (gateway, portal) = try await services.startGateway(
                    in: "second", settings: ["MSI_METRICS_PORT": "\(port)"])
                // The gateway may be ready before its port for metrics.
                try await eventually("it is well") { (try? await ask("livez", at: port, portal).status) == 200 }
                try await HeldThreads.hold(gateway, thread: thread, in: calls) {
                    try await eventually("it is noticed") {
                        try await ask("livez", at: port, portal).status == 503
                    }
                    let (status, state) = try await ask("livez", at: port, portal)
                    #expect(status == 503)
                    #expect(state["status"] == "deadline_exceeded")
                    let parts = try #require(state["parts"]?.members)
                    #expect(parts.count == 1, "\(state)")
                    let stuck = parts.first { $0.name.hasPrefix(part) }?.value
                    #expect(stuck?["message"]?.string?.hasPrefix("no answer for ") == true, "\(state)")
                    #expect(try await ask("readyz", at: port, portal).status == 503)
                    let metrics = try await portal.http.answer(
                        .GET, "http://127.0.0.1:\(port)/metrics", headers: [:], body: nil, within: .seconds(60))
                    #expect(String(decoding: metrics.body, as: UTF8.self).contains("\nmsi_ready 0\n"))
                }
                try await eventually("it works again") { try await ask("livez", at: port, portal).status == 200 }
                #expect(await gateway.stop() == 0)
            }
        }
    }
}
