import HTTPTypes
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Requests whose bodies arrive long after their heads.
@Suite("Held request bodies", .timeLimit(.minutes(10)))
struct HeldBodyTests {
    @Test("The caller is checked again after the body, before the handler")
    func checkedAgain() async throws {
        let handled = Mutex(0)
        let lookups = Mutex(0)
        let route = Route(.post, "/thing", right: .send, body: String.self, answer: .ok(String.self)) { call in
            handled.withLock { $0 += 1 }
            return Answer(try await call.body())
        }
        let principal = try Principal.sample(.communicator)
        for (credential, status) in [
            (principal.credential, 200), (nil, 401),
            (Credential.sample(.communicator, principal.account, kind: .token, rights: [.read]), 403),
        ] {
            handled.withLock { $0 = 0 }
            lookups.withLock { $0 = 0 }
            try await withRouteServer(
                [route], as: principal,
                credentials: { hash in
                    #expect(hash == principal.hash)
                    lookups.withLock { $0 += 1 }
                    return credential
                }
            ) { port in
                let held = try HeldConnection(to: port)
                held.sendHead("POST", "/thing", [], length: 3)
                // The server answers another request, so it has read the head.
                let other = try HeldConnection(to: port)
                other.send("GET", "/thing")
                #expect(try await other.answer().status == 405)
                #expect(lookups.withLock { $0 } == 0)
                held.send(#""a""#.utf8)
                #expect(try await held.answer().status == status)
                #expect(lookups.withLock { $0 } == 1 && handled.withLock { $0 } == (status == 200 ? 1 : 0))
            }
        }
    }

    @Test("A body that was held until after a revocation has no effect")
    func revoked() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let root = try await gateway.newSession("root", "super_user")
            let (ann, bob) = (try await gateway.newSession("ann"), try await gateway.newSession("bob"))
            for session in [root, ann] { try await session.confirm() }
            let token = try await ann.makeToken(["send"])
            let account = #"{"account":"mallory","password":"\#(RunningGateway.password)","role":"super_user"}"#
            let message = SamplePath(cube.open).message()
            let bearer = ["Authorization: Bearer \(token)"]
            let held = try [
                HeldRequest("/account", account, root.fields, at: gateway),
                HeldRequest("/token", #"{"name":"late","rights":["administer"]}"#, root.fields, at: gateway),
                HeldRequest("/token", #"{"name":"late","rights":["send"]}"#, ann.fields, at: gateway),
                HeldRequest("/message", message, ann.fields, at: gateway),
                HeldRequest("/message", message, bearer, at: gateway),
                HeldRequest("/send/Campus/Library/Hours", "late", bearer, at: gateway),
                HeldRequest("/message", message, bob.fields, at: gateway),
            ]
            #expect(try await root.request("DELETE", "/session").status == 204)
            #expect(try await gateway.request("PUT", "/account/ann", body: #"{"disabled":true}"#).status == 200)
            #expect(try await gateway.request("DELETE", "/account/bob").status == 204)
            for request in held {
                let answer = try await request.finish()
                #expect(answer.status == 401 && answer.problem == "unauthenticated", "\(request.target): \(answer)")
            }
            #expect(try await gateway.request("GET", "/account/mallory").status == 404)
            #expect(try await gateway.request("GET", "/token").text.contains("late") == false)
            #expect(try await gateway.request("GET", "/message").text.contains(#""messages":[]"#))
        }
    }
}

/// A request whose head and the first byte of whose body were sent.
private struct HeldRequest {
    let target: String
    private let connection: HeldConnection
    private let rest: Substring.UTF8View

    init(_ target: String, _ body: String, _ fields: [String], at gateway: RunningGateway) throws {
        self.target = target
        connection = try HeldConnection(to: gateway.port)
        connection.sendHead("POST", target, fields, length: body.utf8.count)
        connection.send(body.utf8.prefix(1))
        rest = body.dropFirst().utf8
    }

    func finish() async throws -> HTTPAnswer {
        connection.send(rest)
        return try await connection.answer()
    }
}
