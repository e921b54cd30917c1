import CZeroMQ
import FoundationEssentials
import Base
import Schemas
import Testing
import TestSupport

@testable import Bus

/// The time until which a request may be begun.
@Suite("Timeouts and deadlines of requests", .timeLimit(.minutes(10)))
struct RequestTimeTests {
    /// Requests with a timeout or a deadline from a clock that is an hour slow or fast, and their answers.
    static let cases: [(fields: String, status: String)] = [
        (#""timeout":5000,"deadline":\#(UnixMilliseconds.now - .seconds(3_600))"#, "ok"),
        (#""timeout":5000"#, "ok"),
        (#""timeout":9223372036854775807"#, "ok"),
        (#""timeout":0,"deadline":\#(UnixMilliseconds.now + .seconds(3_600))"#, "deadline_exceeded"),
        (#""timeout":-1"#, "deadline_exceeded"),
        (#""deadline":\#(UnixMilliseconds.now - .seconds(3_600))"#, "deadline_exceeded"),
        (#""deadline":\#(UnixMilliseconds.now + .seconds(3_600))"#, "ok"),
        (#""deadline":-9223372036854775808"#, "deadline_exceeded"),
        (#""deadline":9223372036854775807"#, "ok"),
    ]

    @Test("The timeout takes precedence over the deadline", arguments: cases)
    func timeoutTakesPrecedenceOverDeadline(fields: String, status: String) async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"1","command":"test.bytes",\#(fields)}"#, "{}")
            #expect(try await peer.receiveText().first == #"{"id":"1","status":"\#(status)"}"#)
        }
    }

    @Test("The client sends a timeout and a deadline")
    func theClientSendsBoth() async throws {
        try await withBus { bus in
            let service = try RawPeer(ZMQ_ROUTER, boundTo: "tcp://127.0.0.1:*")
            let client = try CommandClient(bus: bus, endpoints: [service.endpoint], logger: quietLogger)
            let request = Task { try await client.request(Echo(text: ""), timeout: .seconds(60)) }
            let frame = try await service.receive()[1]
            let header: RequestHeader = try JSONCoder.decodeStrictly(from: Data(frame))
            let timeout = try #require(header.timeout)
            #expect((30_000...60_000).contains(timeout))
            let remaining = try #require(header.deadline) - .now
            #expect((30_000...60_000).contains(remaining))
            request.cancel()
            _ = await request.result
        }
    }

    @Test("A handler gets the deadline by its own clock")
    func aHandlerLearnsTheDeadlineByItsOwnClock() async throws {
        var router = CommandRouter()
        router.on("test.left") { _, context in
            Data("\(try #require(context.deadline) - .now > 30_000)".utf8)
        }
        try await withServerAndClient(router) { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"1","command":"test.left","timeout":60000,"deadline":7}"#, "{}")
            #expect(try await peer.receiveText() == [#"{"id":"1","status":"ok"}"#, "true"])
        }
    }

    @Test("A request that waited in the queue beyond its deadline is refused")
    func workThatWaitedTooLongForItsTurnIsRefused() async throws {
        let gate = Gate()
        var router = CommandRouter()
        router.on("test.turn") { payload, context in
            await gate.pass()
            try context.checkStillWanted()
            return payload
        }
        try await withServerAndClient(router) { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"1","command":"test.turn","timeout":3000}"#, "{}")
            try await eventually("the handler begins") { gate.entered == 1 }
            try await Task.sleep(for: .milliseconds(3_010))
            gate.open()
            #expect(try await peer.receiveText().first == #"{"id":"1","status":"deadline_exceeded"}"#)
        }
    }

    @Test("A pause of the process and a step of the clock are both recognised")
    func gapsAndJumpsArePauses() {
        let watch = PauseWatch()
        func moment(_ monotonic: MonotonicMilliseconds, _ wall: UnixMilliseconds) -> ClockReading {
            ClockReading(monotonic: monotonic, wall: wall)
        }
        #expect(watch.detectPause(from: moment(1_000, 50_000), to: moment(1_600, 50_600)) == nil)
        #expect(watch.count == 0 && !watch.hasPaused(since: 0, now: 1_700))
        // Before the bus thread has read its clocks, other threads see the age of its last reading.
        #expect(watch.hasPaused(since: 0, now: 3_200))
        #expect(watch.detectPause(from: moment(1_600, 50_600), to: moment(3_600, 52_600)) == 2_000)
        #expect(watch.count == 1 && watch.hasPaused(since: 0, now: 3_600) && !watch.hasPaused(since: 1, now: 3_600))
        #expect(watch.detectPause(from: moment(3_600, 52_600), to: moment(3_700, 3_652_700)) == 3_600_000)
        #expect(watch.detectPause(from: moment(3_700, 3_652_700), to: moment(3_800, 52_800)) == nil)
        #expect(watch.detectPause(from: moment(3_800, 52_800), to: moment(3_900, 52_950)) == nil)
    }
}
