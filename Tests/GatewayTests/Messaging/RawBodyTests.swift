import Base
import FoundationEssentials
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Bodies of other types than JSON, which may be larger.
@Suite("Raw request bodies", .timeLimit(.minutes(10)))
struct RawBodyTests {
    private struct Sound: RawBody {
        static let mediaTypes = ["audio/ogg", "audio/wav"]
        static let maxBytes = 200_000
    }

    private static let route = Route(.post, "/sound", right: .person, body: Sound.self, answer: .ok(Int.self)) { call in
        Answer(try await call.bytes(as: "sound").count)
    }.documented("Send a sound")

    private static let large = 100_000

    @Test("An account may send 4 large bodies at a time; small ones, and other accounts, are not held up")
    func accounts() async throws {
        try await withRouteServer([Self.route], person: .sample("ann")) { port in
            func connection(_ length: Int) throws -> HeldConnection {
                let held = try HeldConnection(to: port)
                held.sendHead("POST", "/sound", [], length: length)
                return held
            }
            let held = try (0..<LargeBodies.maxPerAccount).map { _ in try connection(Self.large) }
            // The server reads the heads in any order, so that a further one may be among the first.
            var refused: HTTPAnswer?
            try await eventually("a refusal: \(String(describing: refused))") {
                refused = try await Self.send(Self.large, over: connection(Self.large))
                return refused?.status == 429
            }
            #expect(refused?.problem == "too-many-requests" && refused?["retry-after"] == "2", "\(String(describing: refused))")
            let small = try await Self.send(65_536, over: connection(65_536))
            #expect(small.text == "65536", "\(small)")
            for connection in held {
                let rest = try await Self.send(Self.large, over: connection)
                #expect(rest.status == 200 && rest.text == "\(Self.large)", "\(rest)")
            }
            let next = try await Self.send(Self.large, over: connection(Self.large))
            #expect(next.status == 200, "\(next)")
        }
    }

    /// Sends a body whose head was sent, as fast as the kernel takes it.
    private static func send(_ size: Int, over connection: HeldConnection) async throws -> HTTPAnswer {
        var rest = size
        while rest > 0 {
            guard let sent = connection.send([UInt8](repeating: 0x78, count: min(rest, 16_384))) else { break }
            rest -= sent
            if sent == 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
        return try await connection.answer()
    }

    @Test("All together send 32 large bodies at a time; a place is free again when one has ended")
    func total() throws {
        let bodies = LargeBodies()
        let accounts = (0..<9).map { AccountName.sample("student\($0)") }
        for account in accounts.prefix(8) {
            for _ in 0..<4 { try bodies.begin(of: account) }
        }
        #expect(throws: Problem.self) { try bodies.begin(of: accounts[0]) }
        let full = #expect(throws: Problem.self) { try bodies.begin(of: accounts[8]) }
        #expect(full?.kind == .overloaded)
        bodies.end(of: accounts[3])
        try bodies.begin(of: accounts[8])
        let again = #expect(throws: Problem.self) { try bodies.begin(of: accounts[3]) }
        #expect(again?.kind == .overloaded)
        // A small body has no place.
        try bodies.begin(of: nil)
        bodies.end(of: nil)
    }

    @Test("A caller without the right gets no place, and neither does a body that ends the connection")
    func unauthorized() async throws {
        try await withRouteServer([Self.route], person: .sample("ann")) { port in
            for number in 0..<20 {
                let connection = try HeldConnection(to: port)
                if number.isMultiple(of: 2) {
                    connection.sendHead("POST", "/sound", ["Cookie: anonymous"], length: Self.large)
                    #expect(try await connection.answer().status == 401)
                } else {
                    connection.sendHead("POST", "/sound", [], length: Sound.maxBytes + 1)
                    let answer = try await connection.answer()
                    #expect(answer.status == 413 && answer.text.contains("at most 200000 bytes"), "\(answer)")
                }
            }
            let connection = try HeldConnection(to: port)
            connection.sendHead("POST", "/sound", ["Content-Type: AUDIO/OGG"], length: Self.large)
            #expect(try await Self.send(Self.large, over: connection).status == 200)
        }
    }

    @Test("In the API's document such a body has each of its types as bytes")
    func document() throws {
        let json = try OpenAPIDocument([(APISection("Sounds", "Some."), [Self.route])]).json
        let content = json["paths"]?["/sound"]?["post"]?["requestBody"]?["content"]
        let bytes: JSONValue = ["schema": ["type": "string", "format": "binary"]]
        #expect(content == ["audio/ogg": bytes, "audio/wav": bytes])
    }

    @Test("Only routes that require a credential have such a body")
    func credentials() async throws {
        let routes = try await Features.alone { $0.routes.filter { $0.maxBodyBytes != RequestBody.maxBytes } }
        #expect(Set(routes.map(\.path)) == ["/user/pictures", "/pictures"])
        #expect(routes.allSatisfy { $0.right.requiresCredential && $0.body is any RawBody.Type })
    }
}
