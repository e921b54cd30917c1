import Base
import Bus
import CZeroMQ
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@Suite("Bytes in a third frame", .timeLimit(.minutes(10)))
struct ByteFrameTests {
    /// Answers with how many bytes it got, and their sum.
    private struct Weigh: ByteCommand, Hashable {
        static let name = "test.weigh"
        static let maxBytes = 1_000
        typealias Reply = Weigh

        var text: String
        var sum = 0
    }

    /// Answers with that many bytes.
    private struct Fetch: ByteReplyCommand {
        static let name = "test.fetch"
        typealias Reply = Fetch

        var count: Int
    }

    private static let picture = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0) })

    private static func router() -> CommandRouter {
        var router = CommandRouter.testing()
        router.onBytes(Weigh.self) { command, bytes, _ in
            Weigh(text: command.text, sum: bytes.reduce(0) { $0 + Int($1) })
        }
        router.onRead(Fetch.self) { command, _ in
            if command.count > Self.picture.count { throw CommandFailure(.notFound, "there are not so many", field: "count") }
            return (command, Self.picture.prefix(command.count))
        }
        return router
    }

    @Test("Bytes arrive as they are, and so do those of a reply")
    func bytesArrive() async throws {
        try await withServerAndClient(Self.router()) { _, client in
            let weighed = try await client.send(Weigh(text: "a picture"), bytes: Self.picture)
            #expect(weighed == Weigh(text: "a picture", sum: Self.picture.reduce(0) { $0 + Int($1) }))
            for count in [1, 999, 1_000] {
                let (reply, bytes) = try await client.read(Fetch(count: count))
                #expect(reply.count == count && bytes == Self.picture.prefix(count))
            }
            let (_, nothing) = try await client.read(Fetch(count: 0))
            #expect(nothing == nil)
            await #expect(throws: CommandFailure(.notFound, "there are not so many", field: "count")) {
                _ = try await client.read(Fetch(count: 1_001))
            }
            // Frames of one message stay together, whatever is sent at the same time.
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let count = number % 1_000 + 1
                        switch number % 3 {
                        case 0: return try await client.read(Fetch(count: count)).bytes?.count == count
                        case 1:
                            let bytes = Data(repeating: 1, count: count)
                            return try await client.send(Weigh(text: ""), bytes: bytes).sum == count
                        default: return try await client.request(Echo(text: "", number: number)).number == number
                        }
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test("The bytes of a command, and of a reply, have their limits")
    func limits() async throws {
        try await withServerAndClient(
            Self.router(), limits: .with { $0.maxReplyBytes = 500 }, clientLimits: .with { $0.maxPayloadBytes = 2_000 }
        ) { _, client in
            for (count, message) in [(0, "has no bytes"), (1_001, "takes 1 to 1000 bytes"), (2_001, "at most 2000")] {
                let failure = await #expect(throws: CommandFailure.self) {
                    try await client.send(Weigh(text: ""), bytes: Data(count: count))
                }
                #expect(failure?.status == .invalid && failure?.message.contains(message) == true, "\(count): \(message)")
            }
            let failure = await #expect(throws: CommandFailure.self) { _ = try await client.read(Fetch(count: 501)) }
            #expect(failure?.status == .internal)
            let (_, bytes) = try await client.read(Fetch(count: 500))
            #expect(bytes?.count == 500)
        }
    }

    @Test("A command that takes bytes is refused without them, and any other one with them, and neither is handled")
    func onlyWhereTheyAreExpected() async throws {
        let handled = Counter()
        var router = CommandRouter()
        router.onBytes(Weigh.self) { command, _, _ in
            handled.add()
            return command
        }
        router.on(Echo.self) { command, _ in
            handled.add()
            return command
        }
        router.onRead(Fetch.self) { command, _ in
            handled.add()
            return (command, nil)
        }
        try await withServerAndClient(router) { server, client in
            let failure = await #expect(throws: CommandFailure.self) { try await client.request(Weigh(text: "")) }
            #expect(failure?.status == .invalid && failure?.field?.isEmpty == true)

            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            for (command, payload) in [(Echo.name, #"{"text":"","number":1}"#), (Fetch.name, #"{"count":1}"#)] {
                try await peer.send(#"{"id":"1","command":"\#(command)"}"#, payload, "bytes")
                let reply = try await peer.receiveText()
                #expect(reply.first == #"{"id":"1","status":"invalid"}"#)
                #expect(reply.last?.contains("\(command) takes no bytes") == true)
            }
            #expect(handled.count == 0)
        }
    }

    @Test("Bytes with a delimiter, as a REQ socket sends them, come back with one")
    func withADelimiter() async throws {
        try await withServerAndClient(Self.router()) { server, _ in
            let peer = try RawPeer(ZMQ_REQ, connectedTo: server.endpoint)
            try await peer.send(#"{"id":"1","command":"test.weigh"}"#, #"{"text":"t","sum":0}"#, "\u{1}\u{2}")
            #expect(try await peer.receiveText() == [#"{"id":"1","status":"ok"}"#, #"{"sum":3,"text":"t"}"#])
            try await peer.send(#"{"id":"2","command":"test.fetch"}"#, #"{"count":3}"#)
            let reply = try await peer.receive()
            #expect(reply.count == 3 && reply.last == [0, 1, 2])
        }
    }

    @Test("A frame above the limit is refused with the reason, and the connection stays")
    func tooLarge() async throws {
        try await withServerAndClient(Self.router(), limits: .with { $0.maxPayloadBytes = 2_000 }) { server, _ in
            let peer = try RawPeer(ZMQ_DEALER, connectedTo: server.endpoint)
            let large = String(repeating: "x", count: 2_001)
            try await peer.send(#"{"id":"1","command":"test.weigh"}"#, #"{"text":"t","sum":0}"#, large)
            let reply = try await peer.receiveText()
            #expect(reply.last?.contains("the third frame has 2001 bytes") == true)
            try await peer.send(#"{"id":"2","command":"test.echo"}"#, #"{"text":"still here","number":1}"#)
            #expect(try await peer.receiveText().first == #"{"id":"2","status":"ok"}"#)
        }
    }

    @Test("A client that has asked for no bytes fails with them; four frames are no reply")
    func repliesThatWereNotAskedFor() async throws {
        try await withBus { bus in
            let service = try RawPeer(ZMQ_ROUTER, boundTo: "tcp://127.0.0.1:*")
            let client = try CommandClient(bus: bus, endpoints: [service.endpoint], logger: quietLogger)
            let frames: [[[String]]] = [[["bytes"]], [["bytes", "more"], []]]
            for (replies, status) in zip(frames, [ReplyStatus.internal, .ok]) {
                let outcome = Task { try await client.request(Echo(text: ""), timeout: .seconds(60)) }
                let request = try await service.receive()
                let header = try JSONCoder.decode(RequestHeader.self, from: Data(request[1]))
                for more in replies {
                    let reply = [#"{"id":"\#(header.id)","status":"ok"}"#, #"{"text":"","number":0}"#] + more
                    try await service.send([request[0]] + reply.map { Array($0.utf8) })
                }
                switch await outcome.result {
                case .success(let echo): #expect(echo == Echo(text: "") && status == .ok)
                case .failure(let error): #expect((error as? CommandFailure)?.status == status)
                }
            }
        }
    }
}
