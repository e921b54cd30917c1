import FoundationEssentials
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// Requests whose URLs come from strangers, or lead to servers without TLS.
@Suite("The servers that a request may reach")
struct ServerScopeTests {
    private func outcome(
        of transport: CurlTransport, _ url: String, _ scope: ServerScope
    ) async -> Result<HTTPTransportResponse, TransportError> {
        await transport.send(
            [HTTPTransportRequest(url: url, headers: [], body: Data("x".utf8), deadline: .now + .seconds(20), scope: scope)])[0]
    }

    @Test(
        "A stranger's URL does not lead to a loopback address, by its number or its name", arguments: ["127.0.0.1", "localhost"])
    func loopback(host: String) async throws {
        try await withTransport { _ in
            .init(200)
        } _: { server, transport in
            let url = server.url.replacing("127.0.0.1", with: host)
            let error = try #require(await outcome(of: transport, url, .publicAddresses).failure)
            #expect(error.code == .refusedAddress)
            #expect(error.mayHaveBeenProcessed == false)
            #expect(error.description.hasSuffix(", which is not a public one"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A stranger's URL does not use a connection that another request has made")
    func openConnection() async throws {
        try await withTransport { _ in
            .init(200)
        } _: { server, transport in
            for _ in 0..<2 {
                #expect(await outcome(of: transport, server.url, .all).success?.status == 200)
                #expect(await outcome(of: transport, server.url, .publicAddresses).failure?.code == .refusedAddress)
                #expect(await outcome(of: transport, server.url, .allAndPlainLoopback).success?.status == 200)
            }
            #expect(server.requests.count == 4)
        }
    }

    @Test(
        "Without TLS, only a loopback address is tried",
        arguments: [
            ("http://127.0.0.1:1/", ServerScope.allAndPlainLoopback, TransportError.Code.notReachable),
            ("HTTP://10.0.0.1:1/", .allAndPlainLoopback, .refusedAddress), ("http://127.0.0.1:1/", .publicAddresses, .other),
            ("http://127.0.0.1:1/", .all, .other),
        ])
    func plain(url: String, scope: ServerScope, code: TransportError.Code) async throws {
        let transport = try CurlTransport(.sample())
        let outcome = await outcome(of: transport, url, scope)
        await transport.close()
        #expect(outcome.failure?.code == code)
    }

    @Test("The location of what a request has created is read, and that of a redirect is not")
    func location() async throws {
        try await withTransport { request in
            .init(request.path == "/created" ? 201 : 301, headers: [.location: "/m/1"])
        } _: { server, transport in
            #expect(await outcome(of: transport, server.url + "/created", .all).success?.location == "/m/1")
            let moved = try #require(await outcome(of: transport, server.url + "/moved", .all).success)
            #expect(moved.location == nil)
        }
    }

    /// Without HTTP/2 each request needs a connection, and a host has few.
    @Test("Requests that wait for a connection to a host that does not answer keep back none to another host")
    func waitingForOtherHosts() async throws {
        try await withPushServices(2) { services in
            let transport = try CurlTransport(
                .sample {
                    $0.threads = 1
                    $0.hasManyHosts = true
                    $0.connectionsPerHost = 4
                })
            func requests(_ count: Int, to service: TestPushService, within time: Duration) -> [HTTPTransportRequest] {
                (0..<count).map { _ in
                    HTTPTransportRequest(
                        url: service.url + "/push/unknown", headers: [], body: Data("x".utf8), deadline: .now + time,
                        scope: .allAndPlainLoopback)
                }
            }
            let (hanging, quick) = (services[0], services[1])
            hanging.behave(.hangs)
            let outcomes = await transport.send(
                requests(60, to: hanging, within: .seconds(12)) + requests(20, to: quick, within: .seconds(8)))
            await transport.close()
            #expect(outcomes.prefix(60).allSatisfy { $0.failure?.code == .timeout })
            #expect(outcomes.suffix(20).map { $0.success?.status } == Array(repeating: 404, count: 20))
        }
    }

    @Test("A host that never answers does not close the connections to others")
    func otherHosts() async throws {
        try await withTLSServer { _ in
            .init(200)
        } _: { quick in
            try await withTLSServer { _ in
                try await Task.sleep(for: .seconds(60))
                return .init(200)
            } _: { hanging in
                try await withTemporaryFolder { folder in
                    let files = try [quick, hanging].map { try Data(contentsOf: URL(filePath: $0.certificateFile)) }
                    try (files[0] + Data("\n".utf8) + files[1]).write(to: URL(filePath: folder + "/ca.pem"))
                    let transport = try CurlTransport(
                        .sample(trusting: folder + "/ca.pem") {
                            $0.threads = 1
                            $0.hasManyHosts = true
                            $0.silenceTimeout = .seconds(3)
                        })
                    #expect(try await outcome(of: transport, quick.url, .all).get().status == 200)
                    let waiting = Task { await outcome(of: transport, hanging.url, .all) }
                    try await eventually { hanging.requests.count == 1 }
                    let end = ContinuousClock.now + .seconds(5)
                    while .now < end { #expect(try await outcome(of: transport, quick.url, .all).get().status == 200) }
                    #expect(quick.connections == 1)
                    waiting.cancel()
                    #expect(await waiting.value.failure?.code == .cancelled)
                    await transport.close()
                }
            }
        }
    }
}
