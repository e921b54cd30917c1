import Bus
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@Suite("Instances that come and go", .timeLimit(.minutes(10)))
struct InstanceTests {
    /// The names of the instances that answer some requests.
    private func names(_ client: CommandClient, _ count: Int = 10) async throws -> Set<String> {
        Set(try await client.names(count))
    }

    /// Waits until exactly these instances answer. On the way a request may be refused by an instance that stops.
    private func expect(_ expected: Set<String>, _ client: CommandClient) async throws {
        try await eventually("\(expected) answer") {
            do {
                return try await names(client, max(10, 3 * expected.count)) == expected
            } catch let failure as CommandFailure {
                #expect(failure.status == .unavailable)
                return false
            }
        }
    }

    @Test("Instances are used soon after they appear, even if the folder does not exist yet, and are left when they stop")
    func appearAndVanish() async throws {
        try await withBusAndFolder { bus, folder in
            let pattern = "ipc://\(folder)/run/relay@*.sock"
            let limits = ClientLimits.with { $0.connectGrace = .seconds(20) }
            let client = try CommandClient(bus: bus, endpoints: [pattern], limits: limits, logger: quietLogger)
            let early = Task { try await names(client, 1) }
            try await withServer(bus, at: "ipc://\(folder)/run/relay@1.sock", .named("1")) { _ in
                #expect(try await early.value == ["1"])
                // A service with another name does not count.
                try await withServer(bus, at: "ipc://\(folder)/run/cube.sock", .named("cube")) { _ in
                    try await withServer(bus, at: "ipc://\(folder)/run/relay@2.sock", .named("2")) { _ in
                        try await expect(["1", "2"], client)
                    }
                    try await expect(["1"], client)
                }
            }
            // The same names again.
            try await withServer(bus, at: "ipc://\(folder)/run/relay@2.sock", .named("2")) { _ in
                try await expect(["2"], client)
            }
        }
    }

    @Test("No request fails while an instance is added, and one that stops refuses a few at most")
    func underLoad() async throws {
        try await withBusAndFolder { bus, folder in
            let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/relay@*.sock"], logger: quietLogger)
            try await withServer(bus, at: "ipc://\(folder)/relay@2.sock", .named("2")) { _ in
                var load: Task<[CommandFailure], Never>?
                try await withServer(bus, at: "ipc://\(folder)/relay@1.sock", .named("1")) { _ in
                    load = self.load(client)
                    try await expect(["1", "2"], client)
                    load?.cancel()
                    #expect(await load?.value == [])
                    load = self.load(client)
                }
                try await expect(["2"], client)
                load?.cancel()
                let refused = try #require(await load?.value)
                // It refuses until it is closed.
                #expect(refused.count < 5 && refused.allSatisfy { $0.status == .unavailable }, "\(refused)")
            }
        }
    }

    /// Sends one request after another until the task is cancelled.
    ///
    /// - Returns: The failures.
    private func load(_ client: CommandClient) -> Task<[CommandFailure], Never> {
        Task {
            var failures: [CommandFailure] = []
            while !Task.isCancelled {
                if let failure = await client.failure(of: "test.name", "") { failures.append(failure) }
            }
            // The cancelled one.
            return failures.filter { $0.message != "cancelled" }
        }
    }

    @Test("After a burst of starts and stops exactly the instances that are there are used")
    func burst() async throws {
        try await withBusAndFolder { bus, folder in
            let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/relay@*.sock"], logger: quietLogger)
            for round in 0..<40 {
                let name = "\(round % 7)"
                try await withServer(bus, at: "ipc://\(folder)/relay@\(name).sock", .named(name)) { _ in
                    if round % 5 == 0 { try await expect([name], client) }
                }
            }
            try await withServer(bus, at: "ipc://\(folder)/relay@1.sock", .named("1")) { _ in
                try await withServer(bus, at: "ipc://\(folder)/relay@6.sock", .named("6")) { _ in
                    try await expect(["1", "6"], client)
                }
            }
        }
    }

    @Test("The file of a killed instance does not disturb the others, and nothing is logged about it")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let log = RecordedLog()
            let bus = try Bus(logger: log.logger)
            try UnixSocket(listeningAt: "\(folder)/relay@0.sock").close()
            try await withServer(bus, at: "ipc://\(folder)/relay@1.sock", .named("1")) { server in
                let client = try CommandClient(
                    bus: bus, endpoints: [server.endpoint, "ipc://\(folder)/relay@*.sock"], logger: log.logger)
                try await expect(["1"], client)
                try await withServer(bus, at: "ipc://\(folder)/relay@2.sock", .named("2")) { _ in
                    try await expect(["1", "2"], client)
                }
                try await expect(["1"], client)
                // It is started again, and replaces the file.
                try await withServer(bus, at: "ipc://\(folder)/relay@0.sock", .named("0")) { _ in
                    try await expect(["0", "1"], client)
                }
            }
            await bus.close()
            #expect(log.louderThanDebug == [])
        }
    }

    @Test("A folder that cannot be read is logged once, and its instances are found when it can be read")
    func unreadableFolder() async throws {
        try await withTemporaryFolder { folder in
            let log = RecordedLog()
            let bus = try Bus(logger: log.logger)
            // A symbolic link to itself, which even root cannot read.
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/run", withDestinationPath: "\(folder)/run")
            let endpoints = ["ipc://\(folder)/run/relay@*.sock"]
            let clients = try (0..<2).map { _ in try CommandClient(bus: bus, endpoints: endpoints, logger: log.logger) }
            try await eventually("a warning") { !log.louderThanDebug.isEmpty }
            try FileManager.default.removeItem(atPath: "\(folder)/run")
            try await withServer(bus, at: "ipc://\(folder)/run/relay@1.sock", .named("1")) { _ in
                for client in clients { try await expect(["1"], client) }
            }
            await bus.close()
            #expect(log.louderThanDebug.count == 1 && log.louderThanDebug[0].contains("cannot be read"))
        }
    }

    @Test("An instance whose socket's file is removed while it runs stays in use")
    func removedFile() async throws {
        try await withBusAndFolder { bus, folder in
            let path = "\(folder)/relay@1.sock"
            let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/relay@*.sock"], logger: quietLogger)
            try await withServer(bus, at: "ipc://\(path)", .named("1")) { _ in
                #expect(try await names(client) == ["1"])
                try FileManager.default.removeItem(atPath: path)
                try await eventually("the file is there again") {
                    let answered = try await names(client)
                    #expect(answered == ["1"])
                    return FileManager.default.fileExists(atPath: path)
                }
                #expect(try await names(client) == ["1"])
            }
        }
    }

    @Test("A subscriber gets the events of instances that appear")
    func events() async throws {
        try await withBusAndFolder { bus, folder in
            let endpoints = (1...2).map { "ipc://\(folder)/events@\($0).sock" }
            let subscriber = try EventSubscriber(
                bus: bus, endpoints: ["ipc://\(folder)/events@*.sock"], logger: quietLogger)
            var events = subscriber.events.makeAsyncIterator()
            for _ in 0..<2 {
                for endpoint in endpoints {
                    let publisher = try EventPublisher(bus: bus, endpoint: endpoint, logger: quietLogger)
                    #expect(await events.next() == .connected(endpoint: endpoint))
                    let sending = Task {
                        while !Task.isCancelled {
                            publisher.publish("tick", Data("1".utf8))
                            try await Task.sleep(for: .milliseconds(5))
                        }
                    }
                    #expect(await events.next() == .event(name: "tick", payload: Data("1".utf8), endpoint: endpoint))
                    sending.cancel()
                    _ = await sending.result
                    await publisher.close()
                    while let event = await events.next(), event != .disconnected(endpoint: endpoint) {}
                }
            }
        }
    }

    @Test("Each instance has its own client, with the name of its socket")
    func clients() async throws {
        try await withBusAndFolder { bus, folder in
            try await withServer(bus, at: "ipc://\(folder)/relay.sock", .named("fixed")) { fixed in
                let instances = try InstanceClients(
                    bus: bus, endpoints: ["ipc://\(folder)/relay@*.sock", fixed.endpoint], logger: quietLogger)
                var changes = instances.changes.makeAsyncIterator()
                #expect(await changes.next()?.map(\.name) == ["2"])
                for _ in 0..<2 {
                    try await withServer(bus, at: "ipc://\(folder)/relay@7.sock", .named("seven")) { _ in
                        let two = await changes.next()
                        #expect(two?.map(\.name) == ["2", "relay@7"])
                        for (instance, name) in zip(two ?? [], ["fixed", "seven"]) {
                            let answered = try await names(instance.client, 3)
                            #expect(answered == [name])
                        }
                    }
                    #expect(await changes.next()?.map(\.name) == ["2"])
                }
            }
        }
    }
}
