import Foundation
import Glibc
import TestSupport
import Testing

/// The gateway's handling of connections.
@Suite("Gateway, connections", .timeLimit(.minutes(10)))
struct GatewayConnectionTests {
    @Test("An answer to HEAD has no body, so that the next response on the connection is read correctly")
    func head() async throws {
        try await RunningGateway.with { gateway in
            let connection = try HeldConnection(to: gateway.port)
            for (target, status) in [("/channel", 200), ("/nowhere", 404), ("/message/x", 400), ("/message?limit=0", 400)] {
                connection.send("HEAD", target, gateway.authorization)
                let answer = try await connection.answer(hasBody: false)
                #expect(answer.status == status && answer["content-length"] != "0", "\(target): \(answer)")
                connection.send("GET", "/problems/not-found")
                let next = try await connection.answer()
                #expect(next.status == 200 && next.object["status"] as? Int == 404, "after HEAD \(target): \(next)")
            }
        }
    }

    @Test(
        "An offer to upgrade the protocol is ignored, and the connection continues",
        arguments: [
            ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"],
            ["Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"],
            ["Connection: keep-alive, \t Upgrade ", "Upgrade: x"],
            ["Connection: keep-alive", "Upgrade: h2c"], ["Upgrade: h2c"],
        ])
    func upgrade(fields: [String]) async throws {
        try await RunningGateway.with(services: []) { gateway in
            let offer = "GET /problems HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n"
            let plain = "GET /problems/not-found HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            // The next request comes later, at once, or in two parts: one at once and one later.
            for (first, later) in [("", plain), (plain, ""), (String(plain.prefix(9)), String(plain.dropFirst(9)))] {
                let connection = try HeldConnection(to: gateway.port)
                connection.send((offer + first).utf8)
                #expect(try await connection.answer().status == 200)
                connection.send(later.utf8)
                #expect(try await connection.answer().object["status"] as? Int == 404)
                connection.send("GET", "/problems")
                #expect(try await connection.answer().status == 200)
            }
        }
    }

    @Test("A request with a body may offer another protocol, and CONNECT is refused like any other method")
    func upgradeWithBody() async throws {
        try await RunningGateway.with(services: []) { gateway in
            let connection = try HeldConnection(to: gateway.port)
            connection.send("POST", "/nowhere", "Connection: Upgrade", "Upgrade: h2c", body: "{}")
            connection.send("CONNECT", "example.org:443")
            connection.send("GET", "/problems")
            #expect(try await connection.answer().status == 404)
            #expect(try await connection.answer().status == 404)
            #expect(try await connection.answer().status == 200)
        }
    }

    @Test("While the gateway stops, a request on an open connection still gets an answer, which is the last one")
    func stopping() async throws {
        // Repeated if the machine was too busy for a request within the moment for which idle connections stay open.
        try await eventually("an answer while the gateway stops") {
            try await RunningGateway.with(services: []) { gateway -> Bool in
                let (used, idle) = (try HeldConnection(to: gateway.port), try HeldConnection(to: gateway.port))
                for connection in [used, idle] {
                    connection.send("GET", "/problems")
                    #expect(try await connection.answer().status == 200)
                }
                gateway.process.signal(SIGTERM)
                // Faster than by `eventually`.
                let deadline = ContinuousClock.now + .seconds(120)
                while (try? HeldConnection(to: gateway.port)) != nil, ContinuousClock.now < deadline {
                    try await Task.sleep(for: .milliseconds(2))
                }
                used.send("GET", "/problems")
                guard let answer = try? await used.answer() else { return false }
                #expect(answer.status == 200 && answer["connection"] == "close", "\(answer)")
                for connection in [used, idle] { #expect(try await connection.ends()) }
                return true
            }
        }
    }

    @Test("A body that is announced as too large is refused without reading it")
    func tooLarge() async throws {
        try await RunningGateway.with(services: ["msi-people"]) { gateway in
            for field in ["Content-Length: 1000000000", "Transfer-Encoding: chunked"] {
                let connection = try HeldConnection(to: gateway.port)
                connection.send(
                    "POST /channel HTTP/1.1\r\nHost: 127.0.0.1\r\n\(gateway.authorization)\r\n\(field)\r\n\r\n".utf8)
                let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x100000) + Array("\r\n".utf8)
                var sent = 0
                let deadline = ContinuousClock.now + .seconds(120)
                while .now < deadline,
                    let count = connection.send(field.hasPrefix("C") ? chunk[...] : chunk[(sent % chunk.count)...])
                {
                    sent += count
                    if count == 0 { try await Task.sleep(for: .milliseconds(5)) }
                }
                // The bytes that the gateway has read, and those in the kernels' buffers.
                #expect(sent < 40_000_000, "\(field): it took \(sent) bytes")
                #expect(ContinuousClock.now < deadline, "\(field): the connection stayed open")
                let answer = try await connection.answer()
                #expect(answer.problem == "body-too-large" && answer["connection"] == "close", "\(answer)")
            }
        }
    }

    @Test("Clients that do not read a large answer take up little memory")
    func unreadAnswers() async throws {
        try await RunningGateway.with { gateway in
            let channel = #"{"name":"n","desc":"\#(String(repeating: "🎓", count: 2_000))"}"#
            let posting = try HeldConnection(to: gateway.port)
            for _ in 0..<400 {
                posting.send("POST", "/channel", gateway.authorization, body: channel)
                #expect(try await posting.answer().status == 201)
            }
            posting.send("GET", "/channel")
            #expect(try await posting.answer().body.count > 3_200_000)
            let before = try ProcessUsage(of: gateway.process.identifier)
            var connections: [HeldConnection] = []
            for _ in 0..<60 {
                let connection = try HeldConnection(to: gateway.port, receiveBuffer: 4_096)
                for _ in 0..<3 { connection.send("GET", "/channel") }
                connections.append(connection)
            }
            // The answer on another connection shows that the gateway has processed theirs, and that they block
            // no other connection.
            for _ in 0..<10 {
                posting.send("GET", "/channel")
                #expect(try await posting.answer().status == 200)
                let now = try ProcessUsage(of: gateway.process.identifier)
                #expect(now.resident - before.resident < 60_000, "\(before) → \(now)")
            }
            // Each client gets everything once it reads.
            let late = try #require(connections.last)
            for _ in 0..<3 { #expect(try await late.answer().body.count > 3_200_000) }
        }
    }
}
