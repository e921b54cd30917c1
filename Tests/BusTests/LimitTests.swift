import CZeroMQ
import Bus
import FoundationEssentials
import Schemas
import Testing
import TestSupport

@Suite("Limits of the bus", .timeLimit(.minutes(10)))
struct LimitTests {
    @Test("A request ends at its deadline")
    func deadlinesEndRequests() async throws {
        let gate = Gate()
        try await withServerAndClient(.testing(gate: gate)) { _, client in
            let failure = await #expect(throws: CommandFailure.self) {
                try await client.request(Hold(), timeout: .milliseconds(50))
            }
            #expect(failure?.status == .deadlineExceeded)
            gate.open()
            // The late reply has no recipient.
            let echo = try await client.request(Echo(text: "next"))
            #expect(echo == Echo(text: "next"))
        }
    }

    @Test("A request without any time is not sent")
    func noTimeIsNoRequest() async throws {
        try await withServerAndClient { _, client in
            for timeout in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
                let failure = await #expect(throws: CommandFailure.self) {
                    try await client.request(Echo(text: ""), timeout: timeout)
                }
                #expect(failure?.status == .deadlineExceeded)
            }
            let echo = try await client.request(Echo(text: "patient"), timeout: .seconds(Int64.max))
            #expect(echo.text == "patient")
        }
    }

    @Test("A request whose deadline has passed is not executed")
    func workWhoseDeadlineHasPassedIsNotDone() async throws {
        let gate = Gate()
        try await withServerAndClient(.testing(gate: gate)) { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"1","command":"test.hold","deadline":1}"#, "{}")
            let reply = try await peer.receiveText()
            #expect(reply.first == #"{"id":"1","status":"deadline_exceeded"}"#)
            #expect(gate.entered == 0)
        }
    }

    @Test("Cancellation ends a request")
    func cancellationEndsARequest() async throws {
        let gate = Gate()
        try await withServerAndClient(.testing(gate: gate)) { _, client in
            let request = Task { try await client.request(Hold(), timeout: .seconds(60)) }
            try await eventually("the handler begins") { gate.entered == 1 }
            request.cancel()
            await #expect(throws: CommandFailure(.unavailable, "cancelled")) { try await request.value }

            let cancelledBefore = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.request(Hold(), timeout: .seconds(60))
            }
            await #expect(throws: CommandFailure(.unavailable, "cancelled")) { try await cancelledBefore.value }
            gate.open()
        }
    }

    @Test("Many cancelled requests leave room for new ones")
    func manyCancellationsLeaveRoom() async throws {
        let gate = Gate()
        try await withServerAndClient(
            .testing(gate: gate), limits: .with { $0.maxInFlight = 10_000 }, clientLimits: .with { $0.maxPending = 50 }
        ) { _, client in
            for _ in 0..<20 {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<50 {
                        group.addTask {
                            let failure = await #expect(throws: CommandFailure.self) {
                                try await client.request(Hold(), timeout: .seconds(60))
                            }
                            #expect(failure?.status == .unavailable)
                        }
                    }
                    group.cancelAll()
                }
            }
            let echo = try await client.request(Echo(text: "room"))
            #expect(echo.text == "room")
            gate.open()
        }
    }

    @Test("A full server answers overloaded")
    func aFullServerIsOverloaded() async throws {
        let gate = Gate()
        try await withServerAndClient(.testing(gate: gate), limits: .with { $0.maxInFlight = 3 }) { _, client in
            try await expectOverloaded(client, withThreeHeldBy: gate)
            let echo = try await client.request(Echo(text: "room"))
            #expect(echo.text == "room")
        }
    }

    @Test("A full client fails with overloaded")
    func aFullClientIsOverloaded() async throws {
        let gate = Gate()
        try await withServerAndClient(.testing(gate: gate), clientLimits: .with { $0.maxPending = 3 }) { _, client in
            try await expectOverloaded(client, withThreeHeldBy: gate)
        }
    }

    /// Expects that a fourth request is refused while three are in flight.
    private func expectOverloaded(_ client: CommandClient, withThreeHeldBy gate: Gate) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { _ = try await client.request(Hold(), timeout: .seconds(60)) }
            }
            try await eventually("three handlers begin") { gate.entered == 3 }
            let failure = await #expect(throws: CommandFailure.self) { try await client.request(Echo(text: "")) }
            #expect(failure?.status == .overloaded)
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test("A payload that is too large is invalid")
    func aPayloadThatIsTooLargeIsInvalid() async throws {
        try await withServerAndClient(
            limits: .with { $0.maxPayloadBytes = 1_000 }, clientLimits: .with { $0.maxPayloadBytes = 10_000 }
        ) { _, client in
            for size in [1_001, 10_001] {
                let failure = await #expect(throws: CommandFailure.self) {
                    try await client.request("test.bytes", payload: Data(count: size))
                }
                #expect(failure?.status == .invalid)
                #expect(failure?.message.contains("\(size) bytes") == true)
            }
            let reply = try await client.request("test.bytes", payload: Data(count: 1_000))
            #expect(reply.count == 1_000)
        }
    }

    @Test("A reply that is too large is an internal error")
    func aReplyThatIsTooLargeIsInternal() async throws {
        try await withServerAndClient(limits: .with { $0.maxReplyBytes = 10 }) { _, client in
            let failure = await #expect(throws: CommandFailure.self) {
                try await client.request("test.bytes", payload: Data(count: 11))
            }
            #expect(failure?.status == .internal)
        }
    }
}
