import Foundation
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Streams leave connections for everything else.
@Suite("Limits of event streams", .timeLimit(.minutes(10)))
struct StreamLimitTests {
    private func stream(of gateway: RunningGateway, _ field: String) throws -> HeldConnection {
        let connection = try HeldConnection(to: gateway.port)
        connection.send("GET", "/events", field)
        return connection
    }

    private func streams(_ count: Int, of gateway: RunningGateway, _ field: String) async throws -> [HeldConnection] {
        var all: [HeldConnection] = []
        for _ in 0..<count {
            let connection = try stream(of: gateway, field)
            let head = try await connection.answer(hasBody: false)
            #expect(head.status == 200, "\(head)")
            all.append(connection)
        }
        return all
    }

    private func refusal(of gateway: RunningGateway, _ field: String) async throws -> HTTPAnswer {
        try await stream(of: gateway, field).answer()
    }

    @Test("A sign-in may have 16 streams, and its account 32; then the answer is 429, and other accounts are served")
    func perAccount() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            let ann = try await gateway.newSession("ann")
            let cookie = "Cookie: \(ann.cookie)"
            var first = try await streams(16, of: gateway, cookie)
            let refused = try await refusal(of: gateway, cookie)
            #expect(refused.status == 429 && refused.problem == "too-many-requests", "\(refused)")
            #expect(refused["retry-after"] == "10")
            let again = "Cookie: \(try await gateway.signIn("ann").cookie)"
            let second = try await streams(16, of: gateway, again)
            try await ann.confirm()
            let token = "Authorization: Bearer \(try await ann.makeToken(["read"]))"
            let third = try await refusal(of: gateway, token)
            #expect(third.status == 429 && third.text.contains("ann"), "\(third)")
            let bob = try await gateway.newSession("bob")
            _ = try await streams(1, of: gateway, "Cookie: \(bob.cookie)")
            first.removeAll()
            try await eventually("a free place") {
                try await stream(of: gateway, token).answer(hasBody: false).status == 200
            }
            #expect(second.allSatisfy { !$0.hasEnded })
        }
    }

    @Test("All streams together are at most half of the connections: a further one gets 503, and other requests are served")
    func total() async throws {
        let settings = ["MSI_GATEWAY_MAX_CONNECTIONS": "20"]
        try await RunningGateway.with(services: ["msi-people", "msi-cube"], settings: settings) { gateway in
            var open = try await streams(10, of: gateway, gateway.authorization)
            for _ in 0..<3 {
                let refused = try await refusal(of: gateway, gateway.authorization)
                #expect(refused.status == 503 && refused.problem == "overloaded", "\(refused)")
                #expect(refused["retry-after"] != nil)
            }
            // Ten connections are left. Idle ones do not keep others out.
            var others: [HeldConnection] = []
            for _ in 0..<10 {
                let connection = try HeldConnection(to: gateway.port)
                connection.send("GET", "/problems")
                #expect(try await connection.answer().status == 200)
                others.append(connection)
            }
            try await eventually("a post among streams and idle connections") {
                try await gateway.request("POST", "/channel", body: #"{"name":"n","desc":"d"}"#).status == 201
            }
            #expect(open.allSatisfy { !$0.hasEnded })
            open.removeLast(2)
            // A HEAD keeps no place.
            try await eventually("an answer") { try await gateway.request("HEAD", "/events").status == 200 }
            for _ in 0..<5 { #expect(try await gateway.request("HEAD", "/events").status == 200) }
            try await eventually("free places") {
                try await stream(of: gateway, gateway.authorization).answer(hasBody: false).status == 200
            }
        }
    }
}
