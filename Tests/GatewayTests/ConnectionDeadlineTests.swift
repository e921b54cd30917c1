import HTTPTypes
import NIOCore
import Testing
import TestSupport

@testable import Gateway

/// The gateway's connections with short timeouts.
@Suite("Deadlines of connections", .timeLimit(.minutes(1)))
struct ConnectionDeadlineTests {
    private static let large = ByteBuffer(repeating: 0x20, count: 12_000_000)

    /// A server on the gateway's channel with a large document at `/large`.
    private func withServer(_ timeouts: ConnectionTimeouts, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let large = Route(.get, "/large", right: .anyone, answer: .ok(String.self)) { _ in Answer(json: Self.large) }
        try await withRouteServer([large], timeouts: timeouts, body)
    }

    @Test("A client that does not read its response, or reads it too slowly, is disconnected")
    func unreadResponse() async throws {
        // Enough for a client that reads 12 MB on a busy machine.
        var timeouts = ConnectionTimeouts()
        timeouts.response = .seconds(8)
        try await withServer(timeouts) { port in
            let silent = try HeldConnection(to: port, receiveBuffer: 4_096)
            silent.send("GET", "/large")
            let slow = try HeldConnection(to: port, receiveBuffer: 4_096)
            slow.send("GET", "/large")
            let start = ContinuousClock.now
            while .now < start + .seconds(12) {
                slow.drop(atMost: 1_000)
                try await Task.sleep(for: .milliseconds(10))
            }
            // The bytes in the kernel's buffers still arrive.
            #expect(try await silent.ends(within: .seconds(15)))
            #expect(try await slow.ends(within: .seconds(15)))
            // A client that reads gets everything.
            let quick = try HeldConnection(to: port)
            quick.send("GET", "/large")
            #expect(try await quick.answer().body.count == Self.large.readableBytes)
        }
    }

    @Test("A connection without a request is closed without an answer")
    func idle() async throws {
        var timeouts = ConnectionTimeouts()
        // Longer than a busy machine delays this test between two requests.
        timeouts.idle = .seconds(6)
        try await withServer(timeouts) { port in
            let silent = try HeldConnection(to: port)
            let used = try HeldConnection(to: port)
            let start = ContinuousClock.now
            while .now < start + .seconds(9) {
                used.send("GET", "/nowhere")
                #expect(try await used.answer().status == 404)
                try await Task.sleep(for: .milliseconds(200))
            }
            #expect(try await silent.ends())
            #expect(try await used.ends())
        }
    }
}
