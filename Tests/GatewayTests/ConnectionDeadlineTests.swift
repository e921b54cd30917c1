import HTTPTypes
import NIOCore
import Testing
import TestSupport

@testable import Gateway

/// The gateway's connections with short timeouts.
@Suite("Deadlines of connections", .timeLimit(.minutes(10)))
struct ConnectionDeadlineTests {
    private static let large = ByteBuffer(repeating: 0x20, count: 12_000_000)

    /// A server on the gateway's channel with a large document at `/large`, and `/thing`, which takes a body.
    private func withServer(_ timeouts: ConnectionTimeouts, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let large = Route(.get, "/large", right: .anyone, answer: .ok(String.self)) { _ in Answer(json: Self.large) }
        let thing = Route(.post, "/thing", right: .anyone, body: String.self, answer: .ok(String.self)) { call in
            Answer(try await call.body())
        }
        try await withRouteServer([large, thing], timeouts: timeouts, body)
    }

    @Test("A client that does not read its response, or reads it too slowly, is disconnected")
    func unreadResponse() async throws {
        var timeouts = ConnectionTimeouts()
        timeouts.response = .milliseconds(500)
        try await withServer(timeouts) { port in
            let silent = try HeldConnection(to: port, receiveBuffer: 4_096)
            silent.send("GET", "/large")
            let slow = try HeldConnection(to: port, receiveBuffer: 4_096)
            slow.send("GET", "/large")
            try await eventually("both are disconnected", every: .milliseconds(10)) {
                slow.drop(atMost: 1_000)
                return try silent.isClosedByServer && slow.isClosedByServer
            }
        }
        // Enough for 12 MB on a busy machine.
        timeouts.response = .seconds(120)
        try await withServer(timeouts) { port in
            let quick = try HeldConnection(to: port)
            quick.send("GET", "/large")
            #expect(try await quick.answer().body.count == Self.large.readableBytes)
        }
    }

    @Test(
        "A client that sends a byte now and then is disconnected at the deadline, with an answer that says why",
        arguments: ["GET /", "POST /thing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n"])
    func slowRequest(begin: String) async throws {
        var timeouts = ConnectionTimeouts()
        timeouts.request = .milliseconds(500)
        try await withServer(timeouts) { port in
            let connection = try HeldConnection(to: port)
            connection.send(begin.utf8)
            let drip = Task {
                while connection.send("x".utf8) != nil { try await Task.sleep(for: .milliseconds(20)) }
            }
            defer { drip.cancel() }
            let answer = try await connection.answer()
            #expect(answer.problem == "request-timeout" && answer.status == 408, "\(answer)")
            #expect(try await connection.ends())
        }
    }

    @Test("A connection without a request is closed without an answer")
    func idle() async throws {
        var timeouts = ConnectionTimeouts()
        timeouts.idle = .seconds(1)
        try await withServer(timeouts) { port in
            // Repeated if the machine was too busy for two requests within the time.
            try await eventually("a connection that is used outlives one that is not") {
                let (silent, used) = (try HeldConnection(to: port), try HeldConnection(to: port))
                while !silent.hasEnded {
                    used.send("GET", "/nowhere")
                    guard let answer = try? await used.answer() else { return false }
                    #expect(answer.status == 404)
                    try await Task.sleep(for: .milliseconds(20))
                }
                used.send("GET", "/nowhere")
                guard (try? await used.answer()) != nil else { return false }
                #expect(try await used.ends())
                return true
            }
        }
    }
}
