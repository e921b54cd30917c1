import CZeroMQ
import Bus
import FoundationEssentials
import Schemas
import Base
import TestSupport
import Testing

@Suite("Malformed requests", .timeLimit(.minutes(10)))
struct MalformedRequestTests {
    static let good = #"{"id":"1","command":"test.echo"}"#

    /// The sent frames, and the expected id and a part of the message.
    static let cases: [(frames: [String], id: String, message: String)] = [
        ([good], "", "expected two frames"),
        (["", good], "", "expected two frames"),
        ([good, "{}", "{}"], "", "found 3"),
        (["", good, "{}", "{}"], "", "found 3"),
        ([""], "", "found 0"),
        (["", ""], "", "found 1"),
        (["", "", ""], "", "valid JSON"),
        (Array(repeating: "x", count: 100), "", "found 100"),
        ([good, ""], "1", "valid JSON"),
        ([good, "{"], "1", "valid JSON"),
        ([good, #"{"text":"x"}"#], "1", "number: missing"),
        ([good, #"{"text":"x","number":1,"more":1}"#], "1", "more: not a field"),
        ([good, #"{"text":"x","number":"1"}"#], "1", "number: expected an integer"),
        ([good, #"{"text":"x","number":1e999}"#], "1", ""),
        ([good, #"{"text":"x","number":99999999999999999999999}"#], "1", ""),
        ([good, String(repeating: "[", count: 100_000)], "1", ""),
        ([good, String(repeating: #"{"text":"#, count: 20_000)], "1", ""),
        (["nonsense", "{}"], "", "valid JSON"),
        (["[]", "{}"], "", "header: expected an object"),
        (["{}", "{}"], "", "header: id: missing"),
        ([#"{"id":"1"}"#, "{}"], "1", "header: command: missing"),
        ([#"{"id":1,"command":"test.echo"}"#, "{}"], "", "header: id: expected a string"),
        ([#"{"id":"7","command":"test.echo","colour":"red"}"#, "{}"], "7", "header: colour: not a field"),
        ([#"{"id":"7","command":"test.echo","deadline":"soon"}"#, "{}"], "7", "header: deadline: expected an integer"),
        ([#"{"id":"7","command":"test.echo","deadline":1e400}"#, "{}"], "7", "header: "),
        ([#"{"id":"7","command":"test.echo","actor":" "}"#, "{}"], "7", "header: actor: expected a text"),
        (
            ["{\"id\":\"7\",\"command\":\"test.echo\",\"actor\":\"\(String(repeating: "a", count: 201))\"}", "{}"], "7",
            "header: actor: expected at most 200 characters"
        ),
        (
            ["{\"id\":\"7\",\"command\":\"test.echo\",\"address\":\"\(String(repeating: "a", count: 65))\"}", "{}"], "7",
            "header: address: expected at most 64 characters"
        ),
        ([#"{"id":"7","command":"no.such"}"#, "{}"], "7", #"unknown command \"no.such\""#),
        ([#"{"id":"7","command":"bus.ping"}"#, "nothing"], "7", "valid JSON"),
        (["{\"id\":\"7\",\"command\":\"\(String(repeating: "c", count: 9_000))\"}", "{}"], "", "header has more than"),
        (["{\"id\":\"7\",\"command\":\"test.echo\",\"actor\":\(String(repeating: "[", count: 5_000))", "{}"], "7", "header: "),
    ]

    @Test("Every malformed request is answered with the reason")
    func everyOneIsAnsweredWithTheReason() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            for (frames, id, message) in Self.cases {
                try await peer.send(frames.map { Array($0.utf8) })
                let reply = try await peer.receiveText()
                let shown = Comment("\(frames.map { $0.prefix(60) }) → \(reply)")
                #expect(reply.dropLast().last == "{\"id\":\"\(id)\",\"status\":\"invalid\"}", shown)
                #expect(reply.last?.contains(message) == true, shown)
            }
            try await self.expectHealthy(peer)
        }
    }

    @Test("A header with invalid UTF-8 is invalid")
    func badUTF8IsInvalid() async throws {
        try await withServerAndClient { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            let bad: [UInt8] = Array(#"{"text":""#.utf8) + [0xFF, 0xC0, 0x80] + Array(#"","number":1}"#.utf8)
            try await peer.send([Array(Self.good.utf8), bad])
            #expect(try await peer.receiveText().first == #"{"id":"1","status":"invalid"}"#)
            try await peer.send([[0xFF, 0xFE], Array("{}".utf8)])
            #expect(try await peer.receiveText().first == #"{"id":"","status":"invalid"}"#)
            try await self.expectHealthy(peer)
        }
    }

    /// Good requests damaged at random, more than the server takes at once.
    @Test("Thousands of malformed requests leave the service healthy", arguments: 1...4)
    func aStormLeavesTheServiceHealthy(seed: UInt64) async throws {
        let log = RecordedLog()
        try await withBus { bus in
            try await withServer(bus, at: "tcp://127.0.0.1:0", limits: .with { $0.maxInFlight = 64 }, logger: log.logger) {
                server in
                let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
                var random = SeededGenerator(seed: seed)
                for _ in 0..<500 { try await peer.send(Self.damagedRequest(&random)) }
                for _ in 0..<500 {
                    let reply = try await peer.receive()
                    #expect(reply.count >= 2)
                }
                try await self.expectHealthy(peer)
            }
        }
        #expect(log.louderThanDebug.isEmpty)
    }

    private static func damagedRequest(_ random: inout SeededGenerator) -> [[UInt8]] {
        var frames = [Array(good.utf8), Array(#"{"text":"hello","number":12345}"#.utf8)]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0..<frames.count, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: frames[index] = Array(frames[index].prefix(.random(in: 0...frames[index].count, using: &random)))
            case 1: frames[index].insert(.random(in: 0...255, using: &random), at: frames[index].count / 2)
            case 2: frames.insert([], at: index)
            case 3: frames.append((0..<20).map { _ in .random(in: 0...255, using: &random) })
            case 4 where frames.count > 1: frames.remove(at: index)
            case 5: frames[index] += Array(String(repeating: "[{\"a\":", count: 2_000).utf8)
            default: frames[index] = (0..<300).map { _ in .random(in: 0...255, using: &random) }
            }
        }
        return frames
    }

    private func expectHealthy(_ peer: RawPeer) async throws {
        try await peer.send(#"{"id":"good","command":"test.echo"}"#, #"{"text":"still here","number":1}"#)
        let reply = try await peer.receiveText()
        #expect(reply == [#"{"id":"good","status":"ok"}"#, #"{"number":1,"text":"still here"}"#])
    }
}
