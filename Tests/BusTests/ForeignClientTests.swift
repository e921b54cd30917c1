import CZeroMQ
import Bus
import FoundationEssentials
import Schemas
import Testing
import TestSupport

/// Clients that only follow the protocol's page.
@Suite("ZeroMQ sockets of other programs", .timeLimit(.minutes(10)))
struct ForeignClientTests {
    @Test("A REQ socket of another program works")
    func aREQSocketWorks() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_REQ, connectedTo: server.endpoint)
            for number in 1...3 {
                try await peer.send(#"{"id":"r\#(number)","command":"test.echo"}"#, #"{"text":"x","number":\#(number)}"#)
                let reply = try await peer.receiveText()
                #expect(reply == [#"{"id":"r\#(number)","status":"ok"}"#, #"{"number":\#(number),"text":"x"}"#])
            }
            // A REQ socket also works after its own mistake.
            try await peer.send("nonsense")
            #expect(try await peer.receiveText().first == #"{"id":"","status":"invalid"}"#)
        }
    }

    @Test("A REQ socket with ZMQ_REQ_CORRELATE works")
    func aCorrelatingREQSocketWorks() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_REQ, connectedTo: server.endpoint)
            peer.set(ZMQ_REQ_CORRELATE, 1)
            peer.set(ZMQ_REQ_RELAXED, 1)
            try await peer.send(#"{"id":"1","command":"bus.ping"}"#, "{}")
            #expect(try await peer.receiveText() == [#"{"id":"1","status":"ok"}"#, "{}"])
        }
    }

    @Test("A client that chooses the identity of another one gets none of its replies", arguments: [ZMQ_REQ, ZMQ_DEALER])
    func sameIdentity(type: Int32) async throws {
        try await withServerAndClient { server, _ in
            let first = try RawPeer(type, connectedTo: server.endpoint, identity: "worker")
            var second: RawPeer?
            for id in ["1", "2", "3"] {
                try await first.send(#"{"id":"\#(id)","command":"bus.ping"}"#, "{}")
                #expect(try await first.receiveText() == [#"{"id":"\#(id)","status":"ok"}"#, "{}"])
                #expect(second?.receiveNow() == nil)
                if second == nil {
                    second = try RawPeer(type, connectedTo: server.endpoint, identity: "worker")
                    try await second?.send(#"{"id":"other","command":"bus.ping"}"#, "{}")
                }
            }
        }
    }

    @Test("A DEALER socket gets an empty delimiter if it sends one")
    func aDEALERSocketGetsADelimiterIfItSendsOne() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"1","command":"bus.ping"}"#, "{}")
            #expect(try await peer.receiveText() == [#"{"id":"1","status":"ok"}"#, "{}"])
            try await peer.send("", #"{"id":"2","command":"bus.ping"}"#, "{}")
            #expect(try await peer.receiveText() == ["", #"{"id":"2","status":"ok"}"#, "{}"])
        }
    }

    @Test("A DEALER socket can have many requests in flight")
    func aDEALERSocketHasManyUnderWay() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            for number in 0..<300 { try await peer.send(#"{"id":"\#(number)","command":"bus.ping"}"#, "{}") }
            var ids: Set<String> = []
            for _ in 0..<300 { ids.insert(try await peer.receiveText()[0]) }
            #expect(ids == Set((0..<300).map { #"{"id":"\#($0)","status":"ok"}"# }))
        }
    }

    @Test("The id of a request comes back unchanged")
    func anIDComesBackAsItWas() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"a \"quoted\" \\ مرحبا \u0007","command":"bus.ping"}"#, "{}")
            #expect(try await peer.receiveText().first == #"{"id":"a \"quoted\" \\ مرحبا \u0007","status":"ok"}"#)
        }
    }

    @Test("A peer that disconnects before its reply does no harm")
    func aPeerThatLeavesCostsNothing() async throws {
        let gate = Gate()
        try await withServerAndClient(.testing(gate: gate)) { server, client in
            do {
                let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
                try await peer.send(#"{"id":"1","command":"test.hold"}"#, "{}")
                try await eventually("the handler begins") { gate.entered == 1 }
            }
            gate.open()
            let echo = try await client.request(Echo(text: "still here"))
            #expect(echo.text == "still here")
        }
    }

    @Test("A malformed reply of another program's service does no harm")
    func aServiceOfOthersMayAnswerNonsense() async throws {
        try await withBus { bus in
            let service = try RawPeer(ZMQ_ROUTER, boundTo: "tcp://127.0.0.1:*")
            let client = try CommandClient(bus: bus, endpoints: [service.endpoint], logger: quietLogger)
            let reply = Task { try await client.request("x", payload: Data("{}".utf8), timeout: .seconds(60)) }
            let request = try await service.receive()
            let id = try #require(String(decoding: request[1], as: UTF8.self).split(separator: "\"id\":\"").last?.prefix(15))
            let peer = request[0]
            for frames in [["x"], ["", ""], ["{}", "{}"], ["{\"id\":\"\(id)\",\"status\":\"fine\"}", "{}"], ["a", "b", "c"]] {
                try await service.send([peer] + frames.map { Array($0.utf8) })
            }
            try await service.send([peer, Array("{\"id\":\"\(id)\",\"status\":\"conflict\"}".utf8), Array("?".utf8)])
            let failure = await #expect(throws: CommandFailure.self) { try await reply.value }
            #expect(failure?.status == .conflict)
        }
    }
}
