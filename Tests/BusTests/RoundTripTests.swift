import Bus
import FoundationEssentials
import Base
import Schemas
import ServiceContextModule
import Testing
import TestSupport

@Suite("Round trips over the bus", .timeLimit(.minutes(10)))
struct RoundTripTests {
    @Test("A command and its reply go over TCP")
    func overTCP() async throws {
        try await withServerAndClient { server, client in
            #expect(server.endpoint.hasPrefix("tcp://127.0.0.1:"))
            #expect(!server.endpoint.hasSuffix(":0"))
            let echo = Echo(text: "quote \" emoji 🎓 arabic مرحبا", number: 7)
            let reply = try await client.request(echo)
            #expect(reply == echo)
        }
    }

    @Test("A payload arrives byte for byte")
    func bytesStayBytes() async throws {
        try await withServerAndClient { _, client in
            let payload = Data(repeating: 0xFE, count: 1_000_000)
            let reply = try await client.request("test.bytes", payload: payload, timeout: .seconds(60))
            #expect(reply == payload)
            let nothing = try await client.request("test.bytes", payload: Data(), timeout: .seconds(60))
            #expect(nothing.isEmpty)
        }
    }

    @Test("Many requests at once get their own replies")
    func manyAtOnceGetTheirOwnAnswers() async throws {
        try await withServerAndClient(limits: .with { $0.maxInFlight = 5_000 }) { _, client in
            try await withThrowingTaskGroup(of: (Int, Echo).self) { group in
                for number in 0..<5_000 {
                    group.addTask {
                        (number, try await client.request(Echo(text: "t", number: number), timeout: .seconds(60)))
                    }
                }
                for try await (number, echo) in group { #expect(echo.number == number) }
            }
        }
    }

    @Test("The request's context arrives at the handler")
    func contextArrives() async throws {
        var router = CommandRouter()
        router.on("test.context") { _, context in
            let caller = "\(context.actor ?? "-") \(context.address ?? "-")"
            return Data("\(caller) \(context.command) \(context.id.utf8.count) \(context.deadline ?? 0 > 0)".utf8)
        }
        router.on("test.trace") { _, context in
            Data("\(context.traceparent ?? "-") \(ServiceContext.current?.traceparent?.description ?? "-")".utf8)
        }
        try await withServerAndClient(router) { _, client in
            let context = try await client.request(
                "test.context", payload: Data(), context: .init(actor: "ann", address: "192.0.2.7"))
            #expect(String(decoding: context, as: UTF8.self) == "ann 192.0.2.7 test.context 15 true")

            let explicit = Traceparent()
            let sent = try await client.request("test.trace", payload: Data(), context: .init(traceparent: explicit))
            #expect(String(decoding: sent, as: UTF8.self) == "\(explicit) \(explicit)")

            let ambient = Traceparent()
            let inherited = try await ServiceContext.withValue(.current(changing: { $0.traceparent = ambient })) {
                try await client.request("test.trace", payload: Data())
            }
            #expect(String(decoding: inherited, as: UTF8.self) == "\(ambient) \(ambient)")
        }
    }

    @Test("A failure arrives with its status and message")
    func failuresArriveAsTheyAre() async throws {
        try await withServerAndClient { _, client in
            await #expect(throws: CommandFailure(.conflict, "not now", field: "with")) {
                try await client.request(Fail(with: "failure"))
            }
            await #expect(throws: CommandFailure(.invalid, "with: expected something else", field: "with")) {
                try await client.request(Fail(with: "violation"))
            }
            let unforeseen = await #expect(throws: CommandFailure.self) { try await client.request(Fail(with: "other")) }
            #expect(unforeseen?.status == .internal)
            #expect(unforeseen?.message.contains("swordfish") == false)
            let contradictory = await #expect(throws: CommandFailure.self) { try await client.request(Fail(with: "ok")) }
            #expect(contradictory?.status == .internal)
        }
    }

    @Test("A reply of a wrong type is an internal error")
    func aReplyThatIsNotTheCommandsIsInternal() async throws {
        var router = CommandRouter()
        router.on(Echo.name) { _, _ in Data(#"{"text":5}"#.utf8) }
        try await withServerAndClient(router) { _, client in
            let failure = await #expect(throws: CommandFailure.self) { try await client.request(Echo(text: "")) }
            #expect(failure?.status == .internal)
            #expect(failure?.message.contains("test.echo") == true)
        }
    }

    @Test("Every server answers bus.ping and bus.health")
    func everyServerAnswersPingAndHealth() async throws {
        try await withServerAndClient(CommandRouter()) { _, client in
            #expect(try await client.request("bus.ping", payload: Data("{}".utf8)) == Data("{}".utf8))
            let health = try await client.request("bus.health", payload: Data("{}".utf8))
            #expect(String(decoding: health, as: UTF8.self) == #"{"version":"\#(productVersion)"}"#)
        }
    }

    @Test("A service reports the state of its dependencies in bus.health")
    func aServiceSaysInWhichStateIsWhatItDependsOn() async throws {
        let parts = [
            "relay": PartHealth(.ok, parts: ["fcm": PartHealth(.unavailable, "20 requests to FCM failed in a row")]),
            "cache": .ok,
        ]
        try await withServerAndClient(CommandRouter(parts: { parts })) { _, client in
            let health = try await client.request(CheckHealth())
            #expect(health == ServiceHealth(version: productVersion, parts: parts))
            #expect(try JSONCoder.decode(from: Data("{}".utf8)) == ServiceHealth(), "every field may be absent")
            #expect(!health.isWell && health.parts["cache"]?.isWell == true && health.parts["relay"]?.isWell == false)
        }
    }

    @Test("While a store takes no writes, bus.health says so, and the service cannot work; it is not read if its writes hang")
    func aStoreWithoutWrites() async throws {
        struct Store: CheckedStore {
            let writes: PartHealth
            let storageHealth = PartHealth(.storageFull, "the disk of cube.sqlite has 9 bytes free")

            func check() async throws { if writes.status == .deadlineExceeded { Issue.record("the store was read") } }
            func writeHealth() async -> PartHealth { writes }
        }

        for writes in [
            PartHealth(.deadlineExceeded, "a write to cube.sqlite has not ended for 12 s"),
            PartHealth(.unavailable, "the database is not available: database is locked"),
        ] {
            let store = Store(writes: writes)
            try await withServerAndClient(CommandRouter(stores: [store], parts: { ["audit": .ok] })) { _, client in
                let health = try await client.request(CheckHealth())
                #expect(health.parts == ["audit": .ok, "store": writes, "storage": store.storageHealth])
                #expect(PartHealth(health).status == writes.status && PartHealth(health).message == writes.message)
            }
        }
        let nearlyFull = PartHealth(ServiceHealth(parts: ["storage": Store(writes: .ok).storageHealth]))
        #expect(nearlyFull.status == .ok && !nearlyFull.isWell)
    }
}

extension ServerLimits {
    static func with(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits()
        change(&limits)
        return limits
    }
}

extension ClientLimits {
    static func with(_ change: (inout ClientLimits) -> Void) -> ClientLimits {
        var limits = ClientLimits()
        change(&limits)
        return limits
    }
}
