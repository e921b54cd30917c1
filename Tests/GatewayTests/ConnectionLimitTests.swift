import Foundation
import HTTPTypes
import NIOCore
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Which connections are served, refused and closed when a maximum is reached.
@Suite("Limits of connections", .timeLimit(.minutes(10)))
struct ConnectionLimitTests {
    /// Requests that the server is busy with until the test ends them.
    private final class Work: Sendable {
        private let state = Mutex((begun: 0, isDone: false))

        var begun: Int { state.withLock(\.begun) }
        func end() { state.withLock { $0.isDone = true } }

        var route: Route {
            Route(.get, "/busy", right: .anyone, answer: .ok(String.self)) { _ in
                self.state.withLock { $0.begun += 1 }
                while !self.state.withLock(\.isDone) { try await Task.sleep(for: .milliseconds(5)) }
                return Answer("done")
            }
        }
    }

    private static let open = Route(.get, "/open", right: .anyone, answer: .ok(String.self)) { _ in Answer("yes") }
    private static let health = Route(.get, "/health", right: .anyone, answer: .ok(String.self)) { _ in Answer("ok") }

    /// Makes connections, each with a request that the server is busy with.
    private func busy(_ count: Int, with work: Work, at port: Int) async throws -> [HeldConnection] {
        let connections = try (0..<count).map { _ in try HeldConnection(to: port) }
        for connection in connections { connection.send("GET", "/busy") }
        try await eventually("busy connections") { work.begun >= count }
        return connections
    }

    /// Makes connections that wait for their clients behind a request.
    private func idle(_ count: Int, at port: Int, from source: UInt8 = 1, _ fields: String...) async throws -> [HeldConnection] {
        let connections = try (0..<count).map { _ in try HeldConnection(to: port, from: source) }
        for connection in connections {
            connection.send("GET", "/open", fields)
            #expect(try await connection.answer().status == 200)
        }
        return connections
    }

    private func answers(_ connection: HeldConnection) async throws -> HTTPAnswer {
        connection.send("GET", "/open")
        return try await connection.answer()
    }

    @Test("An address with too many connections gets 429 on further ones, except to GET /health; other addresses are served")
    func ofAddress() async throws {
        let work = Work()
        try await withRouteServer([Self.open, Self.health, work.route], maxPerAddress: 5) { port in
            let held = try await busy(5, with: work, at: port)
            let surplus = try HeldConnection(to: port)
            let refused = try await answers(surplus)
            #expect(refused.status == 429 && refused.problem == "too-many-requests", "\(refused)")
            #expect(refused["retry-after"] != nil)
            #expect(try await surplus.ends())
            let monitor = try HeldConnection(to: port)
            monitor.send("GET", "/health")
            #expect(try await monitor.answer().status == 200)
            #expect(try await answers(HeldConnection(to: port, from: 2)).status == 200)
            // Of many surplus connections only the newest ones stay open.
            let crowd = try (0..<20).map { _ in try HeldConnection(to: port) }
            try await eventually { crowd.count(where: \.hasEnded) >= 16 }
            work.end()
            for connection in held { #expect(try await connection.answer().status == 200) }
        }
    }

    @Test("Above the maximum, connections are refused except for GET /health, and the log says so once")
    func total() async throws {
        let (work, log) = (Work(), RecordedLog())
        @Sendable func lines(_ text: String) -> Int { log.louderThanDebug.count(where: { $0.contains(text) }) }
        try await withRouteServer([Self.open, Self.health, work.route], maxConnections: 10, limitLogger: log.logger) { port in
            do {
                let held = try await busy(10, with: work, at: port)
                for _ in 0..<3 {
                    let surplus = try HeldConnection(to: port)
                    let refused = try await answers(surplus)
                    #expect(refused.problem == "overloaded" && refused["retry-after"] != nil, "\(refused)")
                    #expect(try await surplus.ends())
                }
                // Far above the maximum, all except sixteen are closed, the oldest first.
                let crowd = try (0..<40).map { _ in try HeldConnection(to: port) }
                try await eventually { crowd.count(where: \.hasEnded) >= 24 }
                let health = try HeldConnection(to: port)
                health.send("GET", "/health")
                #expect(try await health.answer().status == 200)
                #expect(try await health.ends())
                #expect(lines("there is no room for another connection") == 1)
                #expect(lines("there is room for connections again") == 0)
                work.end()
                for connection in held { #expect(try await connection.answer().status == 200) }
            }
            try await eventually { lines("there is room for connections again") == 1 }
            #expect(try await answers(HeldConnection(to: port)).status == 200)
            #expect(lines("there is no room for another connection") == 1)
        }
    }

    @Test(
        "Anonymous connections that wait for their clients are closed for new ones, and then those that have shown a credential")
    func idleConnections() async throws {
        let work = Work()
        try await withRouteServer(
            [Self.open, work.route], as: try .sample(.communicator), maxConnections: 10, minWait: .zero
        ) { port in
            let known = try await idle(2, at: port)
            let anonymous = try await idle(4, at: port, from: 2, "Cookie: anonymous")
            // This one sends its request slowly.
            let slow = try HeldConnection(to: port, from: 3)
            slow.send("GET /open HTTP/1.1\r\n".utf8)
            let held = try await busy(3, with: work, at: port)

            var served: [HeldConnection] = []
            for _ in 0..<5 {
                let connection = try HeldConnection(to: port, from: 4)
                connection.send("GET", "/busy")
                served.append(connection)
            }
            try await eventually("the new requests") { work.begun == 8 }
            for connection in anonymous + [slow] { #expect(try await connection.ends()) }
            #expect(known.allSatisfy { !$0.hasEnded })

            let last = try HeldConnection(to: port, from: 4)
            #expect(try await answers(last).status == 200)
            #expect(try await known[0].ends())
            #expect(!known[1].hasEnded)
            work.end()
            for connection in held + served { #expect(try await connection.answer().status == 200) }
        }
    }

    @Test("A client that keeps all the connections of its address idle does not keep others of the address out")
    func idleConnectionsOfAddress() async throws {
        try await withRouteServer([Self.open], maxPerAddress: 5, minWait: .zero) { port in
            let held = try await idle(5, at: port)
            let other = try await idle(1, at: port, from: 2)
            var new: [HeldConnection] = []
            for _ in 0..<20 {
                new.append(try HeldConnection(to: port))
                #expect(try await answers(new[new.count - 1]).status == 200)
            }
            for connection in held { #expect(try await connection.ends()) }
            #expect(!other[0].hasEnded)
        }
    }
}
