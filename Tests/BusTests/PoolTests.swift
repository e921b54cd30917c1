import CZeroMQ
import Bus
import FoundationEssentials
import Schemas
import Testing
import TestSupport

@Suite("A client with several endpoints", .timeLimit(.minutes(10)))
struct PoolTests {
    @Test("Requests are spread over the endpoints, and a lost endpoint is left out")
    func requestsAreSpreadAndALostEndpointIsLeftOut() async throws {
        try await withBus { bus in
            try await withServer(bus, at: "tcp://127.0.0.1:0", .named("a")) { first in
                var client: CommandClient?
                try await withServer(bus, at: "tcp://127.0.0.1:0", .named("b")) { second in
                    let pool = try CommandClient(
                        bus: bus, endpoints: [first.endpoint, second.endpoint], logger: quietLogger)
                    client = pool
                    try await eventually("both are connected") { try await Set(pool.names(10)) == ["a", "b"] }
                    let counts = Dictionary(grouping: try await pool.names(100), by: \.self).mapValues(\.count)
                    #expect(counts == ["a": 50, "b": 50])
                }
                let pool = try #require(client)
                try await eventually("the first alone answers") {
                    do {
                        return try await Set(pool.names(10)) == ["a"]
                    } catch let failure as CommandFailure {
                        #expect(failure.status == .unavailable)
                        return false
                    }
                }
            }
        }
    }

    @Test("A silent endpoint is set aside until it answers")
    func aSilentEndpointIsSetAsideUntilItAnswers() async throws {
        try await withBus { bus in
            // It reads, and does not answer.
            let silent = try RawPeer(ZMQ_ROUTER, boundTo: "tcp://127.0.0.1:*")
            try await withServer(bus, at: "tcp://127.0.0.1:0", .named("a")) { server in
                let client = try CommandClient(
                    bus: bus, endpoints: [silent.endpoint, server.endpoint],
                    limits: .with { $0.probeInterval = .milliseconds(20) }, logger: quietLogger)
                try await eventually("the other endpoint answers") {
                    (try? await client.request("test.name", payload: Data(), timeout: .seconds(1))) != nil
                }
                // Requests to the silent endpoint reach their deadlines until it is probed.
                var probe: [[UInt8]]?
                try await eventually("the silent endpoint is probed") {
                    _ = try? await client.request("test.name", payload: Data(), timeout: .seconds(1))
                    probe = self.next("bus.ping", at: silent)
                    return probe != nil
                }
                #expect(try await client.names(50) == Array(repeating: "a", count: 50))
                // The probe answered, the endpoint gets requests again.
                let peer = try #require(probe)[0]
                while silent.receiveNow() != nil {}
                try await silent.send([peer, Array(#"{"id":"","status":"ok"}"#.utf8), Array("{}".utf8)])
                try await eventually("requests reach the endpoint again") {
                    _ = try? await client.request("test.name", payload: Data(), timeout: .seconds(1))
                    return self.next("test.name", at: silent) != nil
                }
            }
        }
    }

    @Test("An endpoint that fails at once gets few requests")
    func anEndpointThatFailsAtOnceGetsFewRequests() async throws {
        for status in [ReplyStatus.unavailable, .overloaded] {
            var slow = CommandRouter()
            slow.on("test.name") { _, _ in
                try await Task.sleep(for: .milliseconds(10))
                return Data("slow".utf8)
            }
            var failing = CommandRouter()
            failing.on("test.name") { _, _ in throw CommandFailure(status, "not now") }
            try await withBus { bus in
                try await withServer(bus, at: "tcp://127.0.0.1:0", slow) { first in
                    try await withServer(bus, at: "tcp://127.0.0.1:0", failing) { second in
                        let client = try CommandClient(
                            bus: bus, endpoints: [first.endpoint, second.endpoint], logger: quietLogger)
                        _ = try await client.request("test.name", payload: Data())
                        let start = ContinuousClock.now
                        let refused = await withTaskGroup(of: Int.self) { group in
                            for _ in 0..<20 {
                                group.addTask {
                                    var refused = 0
                                    for _ in 0..<20 {
                                        if (try? await client.request("test.name", payload: Data())) == nil { refused += 1 }
                                    }
                                    return refused
                                }
                            }
                            return await group.reduce(0, +)
                        }
                        // Requests that were pending before the first refusal, and one round a second after that.
                        let rounds = 2 + Int((ContinuousClock.now - start) / .seconds(1))
                        #expect(refused < 20 * (1 + rounds), "\(refused) in \(rounds) rounds")
                    }
                }
            }
        }
    }

    /// The next message about a command that has arrived.
    private func next(_ command: String, at peer: RawPeer) -> [[UInt8]]? {
        while let message = peer.receiveNow() {
            if String(decoding: message[1], as: UTF8.self).contains(command) { return message }
        }
        return nil
    }
}
