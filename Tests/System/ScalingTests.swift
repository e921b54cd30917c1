import CommandBus
import JSON
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// Instances of the relay and of the message log are added and removed, while the others find them by patterns of endpoints.
    @Suite("Scaling", .serialized, .timeLimit(.minutes(3)))
    struct ScalingTests {
        /// The sockets of the instances in a folder, with the names that the packages' units give them.
        private struct Sockets {
            let folder: String

            func endpoint(_ service: ServiceEntry, _ socket: BusSocket = .commands, instance: String) -> String {
                "ipc://\(folder)/run/\(service.name)\(socket == .events ? "-events" : "")@\(instance).sock"
            }

            /// The settings of an instance of a service.
            func listen(_ service: ServiceEntry, _ instance: String) -> [String: String] {
                Dictionary(
                    uniqueKeysWithValues: service.sockets.map { socket in
                        let name = Setting<String>.listen(service, socket).declaration.name
                        return (name, endpoint(service, socket, instance: instance))
                    })
            }

            /// The settings of all clients.
            var patterns: [String: String] {
                let uses: [(ServiceEntry, BusSocket)] = [
                    (.fcmRelay, .commands), (.messageLog, .commands), (.messageLog, .events),
                ]
                return Dictionary(
                    uniqueKeysWithValues: uses.map { service, socket in
                        (
                            Setting<[String]>.endpoints(of: service, socket).declaration.name,
                            endpoint(service, socket, instance: "*")
                        )
                    })
            }
        }

        @Test(
            "A second relay and a second message log take over from the first ones; nothing is lost or doubled",
            arguments: StoreKind.allCases)
        func takeOver(store: StoreKind) async throws {
            let database = try await store.newDatabaseURL().map { ["MSI_DATABASE_URL": $0] } ?? [:]
            try await SeparateServices.with { services in
                let sockets = Sockets(folder: services.folder)
                func start(_ service: ServiceEntry, _ instance: String) async throws -> ServiceProcess {
                    let settings = sockets.patterns.merging(sockets.listen(service, instance)) { $1 }
                    let shared = service == .messageLog ? database : [:]
                    return try await services.start(service.executable, settings: settings.merging(shared) { $1 })
                }
                // It finds the first instances as well.
                let gateway = try await services.startGateway(settings: sockets.patterns)
                let first = [try await start(.fcmRelay, "1"), try await start(.messageLog, "1")]
                try await eventually("the first ones are found") { try await relays(gateway.portal) == [] }

                let subject = try await gateway.portal.makeSubject("Alert")
                let phone = try await Phone.register(at: services.fcm)
                try await services.fcm.subscribe(phone.token, to: subject.topicKey)
                let traffic = Traffic(portal: gateway.portal, subjects: [subject])
                var second: [ServiceProcess] = []
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await phone.listen(at: services.fcm) }
                    try await withThrowingTaskGroup(of: Void.self) { posts in
                        posts.addTask { try await traffic.run(clients: 4, every: .milliseconds(40)) }
                        try await traffic.accepts(more: 100)
                        second = [try await start(.fcmRelay, "2"), try await start(.messageLog, "2")]
                        try await eventually("both are found") {
                            try await relays(gateway.portal) == ["fcm-relay@1", "fcm-relay@2"]
                        }
                        try await eventually("the second message log takes messages") {
                            try await changes(at: sockets.endpoint(.messageLog, instance: "2")) > 0
                        }
                        #expect(traffic.retries == 0 && traffic.accepted.count + 4 >= traffic.posts)
                        try await expectStatus(sockets, gateway.portal)
                        try await traffic.accepts(more: 100)

                        for process in first { #expect(await process.stop() == 0) }
                        try await eventually("only the second ones are known") { try await relays(gateway.portal) == [] }
                        try await traffic.accepts(more: 100)
                        traffic.stop()
                        try await posts.waitForAll()
                    }
                    let expected = Set(traffic.accepted.flatMap(\.components))
                    try? await eventually("everything is at the phone", within: .seconds(40), every: .milliseconds(100)) {
                        expected.isSubset(of: phone.events.map(\.delivered))
                    }
                    #expect(expected.subtracting(phone.events.map(\.delivered)).isEmpty)
                    group.cancelAll()
                }
                #expect(traffic.surprises == [])
                // A phone may be faster than the archive.
                let archive = try await eventually("every message is final", every: .milliseconds(250)) {
                    let archive = try await gateway.portal.archive()
                    return archive.allSatisfy(\.isFinal) ? archive : nil
                }
                #expect(archive.allSatisfy { $0.state == "relayed" })
                #expect(Set(archive.map(\.msiKey)).isSuperset(of: traffic.accepted.map(\.msiKey)))
                let counts = try await services.fcm.counts()
                #expect(counts.distinct == 2 * archive.count && counts.doubled == 0, "\(counts)")
                print(
                    "accepted=\(traffic.accepted.count) archived=\(archive.count) at FCM=\(counts) retried=\(traffic.retries)",
                    "at the phone=\(phone.events.count)")
                for process in [gateway.process] + second.reversed() { #expect(await process.stop() == 0) }
            }
        }

        /// The names of the relays that the message logs report, if there are several.
        private func relays(_ portal: Portal) async throws -> [String]? {
            let health = try await portal.call(.GET, "/health")
            guard health.status == 200, let relay = try health.json["parts"]?["message-log"]?["relay"], relay["status"] == "ok"
            else {
                return nil
            }
            guard case .object(let parts)? = relay["parts"] else { return [] }
            return parts.map(\.name).filter { $0.hasPrefix("fcm-relay") }.sorted()
        }

        /// The number of changes of messages that a message log has made.
        private func changes(at endpoint: String) async throws -> Int64 {
            try await withBus { bus in
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                return try await client.request(ReadMessageChanges(after: nil)).latest
            }
        }

        /// Expects that `msi status` shows each instance.
        private func expectStatus(_ sockets: Sockets, _ portal: Portal) async throws {
            let settings = ["MSI_STATE_DIR": sockets.folder, "MSI_GATEWAY_PORT": "\(portal.port)"]
            let end = try await withProgram(
                BuiltProduct.path(of: "msi"), arguments: ["status"], environment: settings.merging(sockets.patterns) { $1 }
            ) { try await $0.end(within: .seconds(60)) }
            let endpoints = ["1", "2"].map { sockets.endpoint(.messageLog, instance: $0) }.joined(separator: ", ")
            #expect(end.lines.contains { $0.hasPrefix("message-log") && $0.hasSuffix(endpoints) }, "\(end.lines)")
        }
    }
}
