import FoundationEssentials
import TestSupport
import Testing

@testable import HTTPTransport

/// Requests on two threads, as in the relays.
@Suite("A transport with several threads")
struct TransportThreadTests {
    private func requests(_ count: Int, to server: TLSServer) -> [HTTPTransportRequest] {
        (0..<count).map {
            HTTPTransportRequest(
                url: server.url + "/", headers: ["content-type: text/plain"], body: Data("\($0)".utf8),
                deadline: .now + .seconds(30))
        }
    }

    @Test("A few requests use one connection of each thread")
    func littleGoesByAConnectionOfEach() async throws {
        try await withTransport {
            .init(200, String(decoding: $0.body, as: UTF8.self))
        } configuration: {
            $0.threads = 2
        } _: { server, transport in
            for _ in 0..<5 {
                let outcomes = await transport.send(requests(20, to: server))
                let bodies = try outcomes.map { String(decoding: try $0.get().body, as: UTF8.self) }
                #expect(bodies == (0..<20).map(String.init))
            }
            #expect(server.connections == 2)
        }
    }

    /// The limit of connections holds even if it cannot be divided evenly.
    @Test("Many requests use all connections", arguments: [1, 2, 3])
    func moreGoesByAllConnections(_ connections: Int) async throws {
        try await withTransport { request in
            try await Task.sleep(for: .milliseconds(50))
            return .init(200, String(decoding: request.body, as: UTF8.self))
        } configuration: {
            $0.threads = 2
            $0.connectionsPerHost = connections
            $0.streamsPerConnection = 10
        } _: { server, transport in
            try await concurrently(100) { _ in
                for outcome in await transport.send(requests(2, to: server)) { _ = try outcome.get() }
            }
            #expect(server.requests.count == 200)
            #expect(server.connections == connections)
        }
    }

    @Test("Too many requests are refused")
    func tooManyRequestsAreRefused() async throws {
        try await withTLSServer { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(200)
        } _: { server in
            let transport = try CurlTransport(
                .sample(trusting: server.certificateFile) {
                    $0.streamsPerConnection = 5
                    $0.maxPending = 20
                })
            var sending: [Task<[HTTPTransportOutcome], Never>] = []
            for count in 1...10 {
                sending.append(Task { await transport.send(requests(2, to: server)) })
                try await eventually { server.requests.count == 2 * count }
            }
            for outcome in await transport.send(requests(2, to: server)) {
                let error = try #require(outcome.failure)
                #expect(error.code == .overloaded)
            }
            // Closing fails the pending requests of both threads.
            await transport.close()
            for task in sending {
                for outcome in await task.value {
                    let error = try #require(outcome.failure)
                    #expect(error.code == .stopped)
                }
            }
        }
    }
}
