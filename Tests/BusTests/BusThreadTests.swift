import Bus
import FoundationEssentials
import Schemas
import Synchronization
import Testing
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

/// Which work runs on the bus thread, and what happens to it when the bus closes.
@Suite("The bus thread", .timeLimit(.minutes(10)))
struct BusThreadTests {
    /// Blocks a thread until it is released.
    private final class Block: Sendable {
        private let isOver = Atomic(false)

        func hold() {
            while !isOver.load(ordering: .acquiring) { usleep(1_000) }
        }

        func end() {
            isOver.store(true, ordering: .releasing)
        }
    }

    /// One at a time, and no other test does so, because each blocks a thread that all tests share.
    ///
    /// - Parameter bytes: The size of a large payload, which is not decoded on the bus thread.
    @Test(
        "A handler that blocks does not delay other requests", .serialized,
        arguments: [("test.elsewhere", 0), ("test.here", 200_000)])
    func aHandlerThatBlocksHoldsUpNobody(command: String, bytes: Int) async throws {
        let block = Block()
        defer { block.end() }
        var router = CommandRouter()
        router.on("test.elsewhere") { payload, _ in
            block.hold()
            return payload
        }
        router.on("test.here", runs: .busThread) { payload, _ in
            if payload.count > 100_000 { block.hold() }
            return payload
        }
        try await withServerAndClient(router) { _, client in
            async let blocked = client.request(command, payload: Data(count: bytes), timeout: .seconds(60))
            for _ in 0..<20 {
                let reply = try await client.request("test.here", payload: Data([7]))
                #expect(reply == Data([7]))
            }
            block.end()
            let reply = try await blocked
            #expect(reply.count == bytes)
        }
    }

    @Test("Each handler runs where it was registered to run")
    func handlersOfBothPlacesRunWhereTheySay() async throws {
        var router = CommandRouter()
        router.on("test.here", runs: .busThread) { _, _ in
            let before = threadName()
            // Also after a suspension, and in its child tasks.
            try await Task.sleep(for: .milliseconds(5))
            async let child = threadName()
            return Data("\(before) \(threadName()) \(await child)".utf8)
        }
        router.on("test.elsewhere") { _, _ in Data(threadName().utf8) }
        try await withServerAndClient(router) { _, client in
            let here = try await client.request("test.here", payload: Data())
            #expect(String(decoding: here, as: UTF8.self) == "msi-bus msi-bus msi-bus")
            let elsewhere = try await client.request("test.elsewhere", payload: Data())
            #expect(elsewhere != Data("msi-bus".utf8))
        }
    }

    @Test("A task on the bus thread can send requests")
    func tasksOnTheBusThreadSendRequests() async throws {
        try await withBus { bus in
            try await withServer(bus, at: "tcp://127.0.0.1:0") { server in
                let client = try CommandClient(bus: bus, endpoints: [server.endpoint], logger: quietLogger)
                let sum = try await withTaskExecutorPreference(bus.taskExecutor) {
                    #expect(threadName() == "msi-bus")
                    return try await withThrowingTaskGroup(of: Int.self) { group in
                        for number in 0..<500 {
                            group.addTask { try await client.request(Echo(text: "t", number: number)).number }
                        }
                        return try await group.reduce(0, +)
                    }
                }
                #expect(sum == 499 * 500 / 2)
            }
        }
    }

    /// - Parameter milliseconds: When it happens: during the task's first, short wait, and later.
    @Test("A request from the bus thread can be cancelled", arguments: [0, 100])
    func aRequestFromTheBusThreadIsCancelled(after milliseconds: Int) async throws {
        let gate = Gate()
        try await withBus { bus in
            try await withServer(bus, at: "tcp://127.0.0.1:0", .testing(gate: gate)) { server in
                let client = try CommandClient(bus: bus, endpoints: [server.endpoint], logger: quietLogger)
                let request = Task(executorPreference: bus.taskExecutor) {
                    try await client.request(Hold(), timeout: .seconds(120))
                }
                try await eventually("the handler begins") { gate.entered == 1 }
                try await Task.sleep(for: .milliseconds(milliseconds))
                request.cancel()
                let failure = await #expect(throws: CommandFailure.self) { try await request.value }
                #expect(failure?.message == "cancelled")
                gate.open()
            }
        }
    }

    /// The reply to a request whose task waits for it a second time.
    @Test("A slow reply reaches a task on the bus thread")
    func aSlowReplyReachesTheBusThread() async throws {
        let gate = Gate()
        try await withBus { bus in
            try await withServer(bus, at: "tcp://127.0.0.1:0", .testing(gate: gate)) { server in
                let client = try CommandClient(bus: bus, endpoints: [server.endpoint], logger: quietLogger)
                let request = Task(executorPreference: bus.taskExecutor) {
                    _ = try await client.request(Hold(), timeout: .seconds(120))
                    return threadName()
                }
                try await eventually("the handler begins") { gate.entered == 1 }
                try await Task.sleep(for: .milliseconds(100))
                gate.open()
                #expect(try await request.value == "msi-bus")
            }
        }
    }

    @Test("Tasks on the bus thread continue after the bus is closed")
    func tasksGoOnWhenTheirBusIsClosed() async throws {
        let bus = try Bus(logger: quietLogger)
        let isClosed = AsyncStream<Void>.makeStream()
        let client = try CommandClient(bus: bus, endpoints: ["tcp://127.0.0.1:1"], logger: quietLogger)
        let waiting = Task(executorPreference: bus.taskExecutor) { try await client.request(Hold(), timeout: .seconds(120)) }
        let late = Task(executorPreference: bus.taskExecutor) {
            for await _ in isClosed.stream {}
            // The bus thread has ended. The task still runs, and its request fails.
            return await #expect(throws: CommandFailure.self) { try await client.request(Hold()) }
        }
        await bus.close()
        let failure = await #expect(throws: CommandFailure.self) { try await waiting.value }
        #expect(failure?.status == .unavailable)
        isClosed.continuation.finish()
        let lateFailure = await late.value
        #expect(lateFailure?.status == .unavailable)
        let name = await withTaskExecutorPreference(bus.taskExecutor) { threadName() }
        #expect(name != "msi-bus")
    }

    @Test("A server stops when its bus is closed")
    func aServerStopsWithItsBus() async throws {
        let bus = try Bus(logger: quietLogger)
        let gate = Gate()
        let server = try CommandServer(
            bus: bus, endpoint: "tcp://127.0.0.1:0", router: .testing(gate: gate), logger: quietLogger)
        let running = Task { try await server.run() }
        let clientBus = try Bus(logger: quietLogger)
        let client = try CommandClient(bus: clientBus, endpoints: [server.endpoint], logger: quietLogger)
        let request = Task { try await client.request(Hold(), timeout: .seconds(120)) }
        try await eventually("the handler begins") { gate.entered == 1 }
        await bus.close()
        let failure = await #expect(throws: CommandFailure.self) { try await request.value }
        #expect(failure?.status == .unavailable)
        gate.open()
        try await running.value
        await clientBus.close()
    }
}

/// The name of the current thread.
private func threadName() -> String {
    guard let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) else { return "unknown" }
    return String(name.prefix { $0 != "\n" })
}
