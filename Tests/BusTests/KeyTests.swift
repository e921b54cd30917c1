import Bus
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@Suite("Keys of the bus", .timeLimit(.minutes(10)))
struct KeyTests {
    /// A machine: its keys, and its list of peers.
    private struct Machine {
        let keys: BusKeyPair
        let peers: String

        init(_ name: String, in folder: String) throws {
            keys = try BusKeyPair.make()
            peers = "\(folder)/\(name).peers"
        }

        var key: String { keys.publicKey.text }

        func security(_ logger: RecordedLog? = nil) throws -> BusSecurity {
            try .encrypted(with: keys, peersFile: peers, logger: logger?.logger ?? quietLogger)
        }

        func write(_ lines: [String]) throws {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: peers), options: .atomic)
        }
    }

    private static let patient = ClientLimits.with { $0.connectGrace = .milliseconds(200) }

    /// Two machines that know each other: one that serves at 127.0.0.1, and its client.
    private func withTwoMachines(
        _ body: (_ server: Machine, _ client: Machine) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let server = try Machine("server", in: folder)
            let client = try Machine("client", in: folder)
            try server.write(["# The peers of the server.", "", "client \(client.key)"])
            try client.write(["127.0.0.1 \(server.key)"])
            try await body(server, client)
        }
    }

    /// Runs a test with a service on one machine, and a client of it on the other one.
    private func withClient(
        on client: Machine, of server: Machine, log: RecordedLog? = nil, _ body: (CommandClient) async throws -> Void
    ) async throws {
        try await withBus(security: server.security(log), logger: log?.logger ?? quietLogger) { serving in
            try await withServer(serving, at: "tcp://127.0.0.1:0") { running in
                try await withBus(security: client.security()) { asking in
                    let endpoints = [running.endpoint]
                    try await body(CommandClient(bus: asking, endpoints: endpoints, limits: Self.patient, logger: quietLogger))
                }
            }
        }
    }

    private func text(_ client: CommandClient) async -> String? {
        try? await client.request(Echo(text: "here")).text
    }

    @Test("Two machines that know each other's key exchange commands and events")
    func knownPeers() async throws {
        try await withTwoMachines { server, client in
            try await withBus(security: server.security()) { serving in
                try await withServer(serving, at: "tcp://127.0.0.1:0") { running in
                    let publisher = try EventPublisher(bus: serving, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
                    try await withBus(security: client.security()) { asking in
                        let commands = try CommandClient(bus: asking, endpoints: [running.endpoint], logger: quietLogger)
                        #expect(try await commands.request(Echo(text: "here")).text == "here")
                        let large = String(repeating: "x", count: 900_000)
                        #expect(try await commands.request(Echo(text: large)).text == large)
                        let subscriber = try EventSubscriber(
                            bus: asking, endpoints: [publisher.endpoint], names: ["changed"], logger: quietLogger)
                        var events = subscriber.events.makeAsyncIterator()
                        #expect(await events.next() == .connected(endpoint: publisher.endpoint))
                        let sending = Task {
                            while !Task.isCancelled {
                                publisher.publish("changed", Data("{}".utf8))
                                try await Task.sleep(for: .milliseconds(5))
                            }
                        }
                        let event = await events.next()
                        sending.cancel()
                        #expect(event == .event(name: "changed", payload: Data("{}".utf8), endpoint: publisher.endpoint))
                    }
                }
            }
        }
    }

    @Test("A service reaches itself, whatever its list says")
    func own() async throws {
        try await withTwoMachines { server, _ in
            try await withBus(security: server.security()) { bus in
                try await withServer(bus, at: "tcp://0.0.0.0:0") { running in
                    let client = try CommandClient(bus: bus, endpoints: [running.endpoint], logger: quietLogger)
                    #expect(try await client.request(Echo(text: "here")).text == "here")
                }
            }
        }
    }

    @Test("A peer with an unknown key is refused and told so, and connects when its line is there")
    func unknownKey() async throws {
        try await withTwoMachines { server, client in
            try server.write([])
            let log = RecordedLog()
            try await withClient(on: client, of: server, log: log) { commands in
                try await eventually("the failure has the reason") {
                    await commands.failure(of: Echo(text: ""))?.message
                        .contains("does not have this machine's key in its list of peers") == true
                }
                #expect(log.lines.contains { $0.text.contains("not in the list") && $0.text.contains(client.key) })
                try server.write(["client \(client.key)"])
                try await eventually("it connects") { await text(commands) == "here" }
            }
            #expect(!log.lines.contains { $0.text.contains(client.keys.secret) || $0.text.contains(server.keys.secret) })
        }
    }

    @Test("A service with another key than in the list is refused, and used when the list has its key")
    func impostor() async throws {
        try await withTwoMachines { server, client in
            try client.write(["127.0.0.1 \(try BusKeyPair.make().publicKey)"])
            try await withClient(on: client, of: server) { commands in
                try await eventually("the failure has the reason") {
                    await commands.failure(of: Echo(text: ""))?.message.contains("has another key") == true
                }
                try client.write(["127.0.0.1 \(server.key)"])
                try await eventually("it connects") { await text(commands) == "here" }
            }
        }
    }

    @Test("A client without a key for the host says so")
    func noKey() async throws {
        try await withTwoMachines { server, client in
            try client.write(["other.example.edu \(server.key)"])
            try await withBus(security: client.security()) { asking in
                let commands = try CommandClient(
                    bus: asking, endpoints: ["tcp://192.0.2.1:9"], limits: Self.patient, logger: quietLogger)
                let failure = await commands.failure(of: Echo(text: ""))
                #expect(failure?.message.contains("no key with the name of this host") == true, "\(failure?.message ?? "")")
            }
        }
    }

    @Test("A client without keys cannot talk to a service with keys, nor the other way round", arguments: [true, false])
    func oneSideEncrypts(serverHasKeys: Bool) async throws {
        try await withTwoMachines { server, client in
            try await withBus(security: serverHasKeys ? server.security() : .loopbackOnly) { serving in
                try await withServer(serving, at: "tcp://127.0.0.1:0") { running in
                    try await withBus(security: serverHasKeys ? .loopbackOnly : client.security()) { asking in
                        let commands = try CommandClient(
                            bus: asking, endpoints: [running.endpoint], limits: Self.patient, logger: quietLogger)
                        let reason = serverHasKeys ? "this process has no keys" : "does not encrypt"
                        try await eventually("the failure has the reason") {
                            await commands.failure(of: Echo(text: ""))?.message.contains(reason) == true
                        }
                    }
                    // Those on its own side still do.
                    let own = try CommandClient(bus: serving, endpoints: [running.endpoint], logger: quietLogger)
                    #expect(await text(own) == "here")
                }
            }
        }
    }

    @Test("A peer whose line is removed loses its connection; the others go on")
    func removedPeer() async throws {
        try await withTwoMachines { server, client in
            try await withTemporaryFolder { folder in
                let other = try Machine("other", in: folder)
                try other.write(["127.0.0.1 \(server.key)"])
                try server.write(["client \(client.key)", "other \(other.key)"])
                let limits = ServerLimits.with { $0.silence = .milliseconds(300) }
                try await withBus(security: server.security()) { serving in
                    try await withServer(serving, at: "tcp://127.0.0.1:0", limits: limits) { running in
                        try await withBus(security: client.security()) { asking in
                            try await withBus(security: other.security()) { alsoAsking in
                                let removed = try CommandClient(
                                    bus: asking, endpoints: [running.endpoint], limits: Self.patient, logger: quietLogger)
                                let kept = try CommandClient(bus: alsoAsking, endpoints: [running.endpoint], logger: quietLogger)
                                #expect(await text(removed) == "here")
                                #expect(await text(kept) == "here")
                                try server.write(["other \(other.key)"])
                                try await eventually("it is refused") { await text(removed) == nil }
                                try await eventually("the other one is answered") { await text(kept) == "here" }
                                #expect(await text(removed) == nil)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("A client leaves a service whose key is removed from the client's list")
    func removedService() async throws {
        try await withTwoMachines { server, client in
            try await withClient(on: client, of: server) { commands in
                #expect(await text(commands) == "here")
                try client.write(["other \(client.key)"])
                try await eventually("it leaves") { await text(commands) == nil }
            }
        }
    }

    @Test("While a key is replaced, a service may have either of two keys")
    func twoKeys() async throws {
        try await withTwoMachines { server, client in
            try client.write(["127.0.0.1 \(try BusKeyPair.make().publicKey)", "127.0.0.1 \(server.key)"])
            try await withClient(on: client, of: server) { commands in
                try await eventually("it connects") { await text(commands) == "here" }
            }
        }
    }

    @Test("A list with a mistake leaves the last one in use, and the log has its line")
    func mistake() async throws {
        try await withTwoMachines { server, client in
            let log = RecordedLog()
            try await withClient(on: client, of: server, log: log) { commands in
                try server.write(["client \(client.keys.secret.dropLast())"])
                try await eventually("the mistake is in the log") {
                    log.lines.contains { $0.text.contains("line 1: the key of client is not a public key") }
                }
                #expect(await text(commands) == "here")
                #expect(!log.lines.contains { $0.text.contains(client.keys.secret.prefix(10)) })
            }
        }
    }

    @Test(
        "A list is refused with the line of its mistake",
        arguments: [
            ("host-a", "line 1: expected a name and a public key, found 1 words"),
            ("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7 host-a", "line 1: expected a name and then a public key"),
            ("# x\nhost-a short", "line 2: the key of host-a is not a public key"),
            ("host-a rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7 more", "line 1: expected a name and a public key, found 3 words"),
            (
                "host-a rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\nhost-b rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
                "line 2: host-b has the key of host-a"
            ),
        ])
    func badList(text: String, problem: String) {
        let error = #expect(throws: PeerList.Problem.self) { try PeerList(parsing: text) }
        #expect(error?.description.hasPrefix(problem) == true, "\(error?.description ?? "")")
    }

    @Test("A list has several keys for a name, in any case, and repeated lines count once")
    func goodList() throws {
        let (one, two) = (try BusKeyPair.make().publicKey, try BusKeyPair.make().publicKey)
        let list = try PeerList(parsing: "# name  key\r\nHost-A \(one)\r\n\r\n  # more\r\nhost-a\t\(two)\r\nhost-a \(one)\r\n")
        #expect(list.keys(of: "HOST-A") == [one, two])
        #expect(list.name(of: two) == "host-a")
        #expect(list.count == 2)
        let addresses = try PeerList(parsing: "[FD00:0::1] \(one)\nfd00::2 \(two)")
        #expect(addresses.keys(of: "fd00::1") == [one] && addresses.keys(of: "[fd00:0:0::2]") == [two])
    }

    @Test("Another interface than the loopback one needs keys, or the operator's word")
    func otherInterface() async throws {
        try await withBus { bus in
            let server = #expect(throws: BusError.self) {
                try CommandServer(bus: bus, endpoint: "tcp://0.0.0.0:0", router: .init(), logger: quietLogger)
            }
            #expect(server?.message.contains("MSI_BUS_KEY_FILE") == true)
            let client = #expect(throws: BusError.self) {
                try CommandClient(bus: bus, endpoints: ["tcp://192.0.2.1:7000"], logger: quietLogger)
            }
            #expect(client?.message.contains("192.0.2.1 is no loopback address") == true)
        }
        try await withBus(security: .unencrypted) { bus in
            try await withServer(bus, at: "tcp://0.0.0.0:0") { running in
                let client = try CommandClient(bus: bus, endpoints: [running.endpoint], logger: quietLogger)
                #expect(await text(client) == "here")
            }
        }
    }

    @Test("A public key follows from the secret one; a text that is not a key is refused")
    func pairs() throws {
        let pair = try BusKeyPair.make()
        #expect(BusKeyPair(secret: "  \(pair.secret)\n")?.publicKey == pair.publicKey)
        for text in ["", "short", pair.secret + "x", pair.secret + " " + pair.secret, String(repeating: "~", count: 40)] {
            #expect(BusKeyPair(secret: text) == nil)
        }
    }
}
