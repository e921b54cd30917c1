import FoundationEssentials
import TestSupport
import Testing

@testable import HTTPTransport

/// When connections are replaced by new ones, on a real server.
@Suite("Connections that answer nothing")
struct SilentConnectionTests {
    private static func request(_ url: String, _ path: String, within time: Duration = .seconds(20)) -> HTTPTransportRequest {
        HTTPTransportRequest(url: url + path, headers: [], body: Data("x".utf8), deadline: .now + time)
    }

    private static func withTransport(
        silenceTimeout: Duration? = nil, streams: Int? = nil, released: Counter = Counter(),
        _ body: @escaping @Sendable (TLSServer, CurlTransport) async throws -> Void
    ) async throws {
        try await HTTPTransportTests.withTransport { request in
            if request.path == "/slow" { try await Task.sleep(for: .milliseconds(900)) }
            if request.path == "/held" { try await eventually { released.count > 0 } }
            if request.path == "/never" { try await Task.sleep(for: .seconds(60)) }
            return .init(200)
        } configuration: {
            if let silenceTimeout { $0.silenceTimeout = silenceTimeout }
            if let streams { ($0.connectionsPerHost, $0.streamsPerConnection) = (1, streams) }
        } _: {
            try await body($0, $1)
        }
    }

    @Test("When a request waits in silence, later ones use a new connection, and the first still gets its answer")
    func silence() async throws {
        let released = Counter()
        try await Self.withTransport(silenceTimeout: .milliseconds(300), released: released) { server, transport in
            _ = try await transport.send(Self.request(server.url, "/"))
            async let held = transport.send(Self.request(server.url, "/held", within: .seconds(120)))
            try await eventually { server.requests.count == 2 }
            let used = server.connections
            // Not the first time, if the transport has not noticed the silence yet: then a later request has ended it.
            try await eventually("a new connection is used") {
                try await Task.sleep(for: .milliseconds(700))
                _ = try await transport.send(Self.request(server.url, "/"))
                return server.connections > used
            }
            released.add()
            #expect(try await held.status == 200)
        }
    }

    @Test("A single request that hangs does not close the connection for the others")
    func oneThatHangs() async throws {
        try await Self.withTransport(silenceTimeout: .seconds(5)) { server, transport in
            _ = try await transport.send(Self.request(server.url, "/"))
            async let hanging = transport.send([Self.request(server.url, "/never", within: .milliseconds(5_500))])
            let end = ContinuousClock.now + .milliseconds(5_600)
            while .now < end { _ = try await transport.send(Self.request(server.url, "/")) }
            _ = await hanging
            _ = try await transport.send(Self.request(server.url, "/"))
            #expect(server.connections == 1)
        }
    }

    @Test("New connections are used at once when they are requested, and the old ones finish")
    func renewal() async throws {
        try await Self.withTransport { server, transport in
            async let slow = transport.send(Self.request(server.url, "/slow"))
            try await eventually { server.requests.count == 1 }
            transport.renewConnections()
            for _ in 0..<3 { _ = try await transport.send(Self.request(server.url, "/")) }
            #expect(server.connections == 2)
            #expect(try await slow.status == 200)
        }
    }

    @Test("Requests that wait for a stream of a silent connection go over the new one")
    func waiting() async throws {
        try await Self.withTransport(silenceTimeout: .milliseconds(300), streams: 1) { server, transport in
            _ = try await transport.send(Self.request(server.url, "/"))
            let hanging = Task { await transport.send([Self.request(server.url, "/never", within: .seconds(50))]) }
            try await eventually { server.requests.count == 2 }
            _ = try await transport.send(Self.request(server.url, "/"))
            hanging.cancel()
            _ = await hanging.value
        }
    }
}
