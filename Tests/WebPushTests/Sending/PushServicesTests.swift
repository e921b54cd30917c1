import Base
import FoundationEssentials
import HTTPTypes
import Logging
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import WebPush

private let noLog = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Pushes to real servers over HTTP/2 and TLS.
@Suite("Sending to push services", .timeLimit(.minutes(10)))
struct PushServicesTests {
    private static func withServices(
        trusting file: String, _ body: @escaping @Sendable (PushServices) async throws -> Void
    ) async throws {
        let services = try PushServices(certificateAuthorityFile: file, logger: noLog)
        do {
            try await body(services)
            await services.close()
        } catch {
            await services.close()
            throw error
        }
    }

    private static func withService(
        answer: @escaping TLSServer.Handler, _ body: @escaping @Sendable (TLSServer, PushServices) async throws -> Void
    ) async throws {
        try await withTLSServer(answer: answer) { server in
            try await withServices(trusting: server.certificateFile) { try await body(server, $0) }
        }
    }

    private static func request(
        to server: TLSServer, _ path: String = "/push/1", isOperatorsOrigin: Bool = true, isUrgent: Bool = false,
        isProven: Bool = true
    ) -> WebPushRequest {
        WebPushRequest(
            url: server.url + path, origin: server.url, isOperatorsOrigin: isOperatorsOrigin,
            headers: ["ttl: 60", "content-encoding: aes128gcm", "content-type: application/octet-stream"],
            body: Data([0, 1, 255, 0]), isUrgent: isUrgent, isProven: isProven)
    }

    private static func error(_ result: Result<String, WebPushFailure>) -> DeliveryError? {
        if case .failure(let failure) = result { failure.error } else { nil }
    }

    @Test("A push is posted as it is, and has the name that the service gives it")
    func accepted() async throws {
        try await Self.withService { _ in
            .init(201, headers: [.location: "/m/1"])
        } _: { server, services in
            let results = await services.send([Self.request(to: server)], by: .now + .seconds(20))
            #expect(results == [.success("/m/1")])
            let received = try #require(server.requests.first)
            #expect(received.path == "/push/1")
            #expect(received.body == Data([0, 1, 255, 0]))
            #expect(received.headers[HTTPField.Name("ttl")!] == "60")
            #expect(received.headers[.contentEncoding] == "aes128gcm")
            #expect(received.headers[.userAgent] == "msi-webpush")
        }
    }

    @Test("Many pushes go out at the pace of the answers, and each has its own outcome")
    func many() async throws {
        let current = Mutex((now: 0, most: 0))
        try await Self.withService { request in
            current.withLock { count in
                count.now += 1
                count.most = max(count.most, count.now)
            }
            try await Task.sleep(for: .milliseconds(10))
            current.withLock { $0.now -= 1 }
            return .init(request.path.hasSuffix("7") ? 410 : 201, headers: [.location: request.path])
        } _: { server, services in
            let requests = (0..<400).map { Self.request(to: server, "/push/\($0)") }
            let results = await services.send(requests, by: .now + .seconds(60))
            #expect(results.count == 400)
            for (number, result) in results.enumerated() {
                if number % 10 == 7 {
                    #expect(Self.error(result)?.isUnregistered == true)
                } else {
                    #expect(result == .success("/push/\(number)"))
                }
            }
            let state = try #require(services.states.first)
            #expect(state.origin == server.url && state.inFlight == 0 && state.waiting == 0 && state.stopped == nil)
            #expect(state.limit > 10)
            #expect(current.withLock { $0.most } <= 200)
        }
    }

    @Test("A stranger's endpoint does not reach a loopback address")
    func stranger() async throws {
        try await Self.withService { _ in
            .init(201)
        } _: { server, services in
            let results = await services.send([Self.request(to: server, isOperatorsOrigin: false)], by: .now + .seconds(20))
            #expect(Self.error(results[0])?.code == "REFUSED_ADDRESS")
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A service that refuses the hub's pushes gets no more, and they count as not sent", arguments: [400, 401, 403])
    func refusing(status: Int) async throws {
        try await Self.withService { _ in
            .init(status, "BadJwtToken")
        } _: { server, services in
            for _ in 0..<2 {
                let results = await services.send([Self.request(to: server)], by: .now + .seconds(20))
                let error = try #require(Self.error(results[0]))
                #expect(error.isKeptBack)
                #expect(error.message.contains("\(status): BadJwtToken"))
                #expect((error.retryAfter ?? 0) > 50_000)
            }
            #expect(server.requests.count == 1)
            let state = try #require(services.states.first)
            #expect(state.isRefusing && state.stopped?.contains("BadJwtToken") == true)
        }
    }

    @Test("A subscription that never worked does not stop the pushes to others")
    func unusable() async throws {
        try await Self.withService { request in
            .init(request.path == "/bad" ? 403 : 201)
        } _: { server, services in
            let requests = [Self.request(to: server, "/bad", isProven: false), Self.request(to: server, "/good")]
            let results = await services.send(requests, by: .now + .seconds(20))
            guard case .failure(let failure) = results[0] else {
                Issue.record("accepted")
                return
            }
            #expect(failure.consequence == .unusable)
            #expect(results[1] == .success("HTTP_201"))
            #expect(services.states.first?.isRefusing == false)
        }
    }

    @Test("The last answer is about the service: one about a subscription only ends an outage")
    func lastAnswer() async throws {
        let status = Mutex(201)
        try await Self.withService { _ in
            .init(status.withLock(\.self))
        } _: { server, services in
            func answer(_ new: Int) async -> PushServiceAnswer? {
                status.withLock { $0 = new }
                _ = await services.send([Self.request(to: server)], by: .now + .seconds(20))
                return services.states.first?.lastAnswer
            }
            #expect(await answer(410) == nil)
            let accepted = await answer(201)
            #expect(accepted != nil && accepted?.error == nil)
            for gone in [404, 413] { #expect(await answer(gone) == accepted) }
            #expect(await answer(500)?.error?.hasPrefix("HTTP_500") == true)
            #expect(await answer(410) == nil)
        }
    }

    @Test("A service that fails many times in a row gets no more pushes for a moment")
    func failing() async throws {
        try await Self.withService { _ in
            .init(500)
        } _: { server, services in
            let results = await services.send((0..<100).map { Self.request(to: server, "/\($0)") }, by: .now + .seconds(60))
            let codes = results.compactMap { Self.error($0)?.code }
            #expect(codes.count == 100 && Set(codes) == ["HTTP_500", "CIRCUIT_OPEN"])
            #expect(server.requests.count < 30)
            #expect(services.states.first?.stopped != nil && services.states.first?.isRefusing == false)
        }
    }

    @Test("A service that hangs does not delay the pushes to others")
    func hanging() async throws {
        try await withTLSServer { _ in
            .init(201)
        } _: { quick in
            try await withTLSServer { _ in
                try await Task.sleep(for: .seconds(60))
                return .init(201)
            } _: { slow in
                try await withTemporaryFolder { folder in
                    let files = try [quick, slow].map { try Data(contentsOf: URL(filePath: $0.certificateFile)) }
                    let file = folder + "/ca.pem"
                    try (files[0] + Data("\n".utf8) + files[1]).write(to: URL(filePath: file))
                    try await Self.withServices(trusting: file) { services in
                        // With its connection open it gives each turn soon, on a busy machine too.
                        #expect(await services.send([Self.request(to: quick)], by: .now + .seconds(30)) == [.success("HTTP_201")])
                        let requests = (0..<200).map { Self.request(to: $0.isMultiple(of: 2) ? quick : slow, "/\($0)") }
                        let sending = Task { await services.send(requests, by: .now + .seconds(30)) }
                        try await eventually(within: .seconds(9)) { quick.requests.count == 101 }
                        let results = await sending.value
                        for (number, result) in results.enumerated() {
                            if number.isMultiple(of: 2) {
                                #expect(result == .success("HTTP_201"))
                            } else {
                                #expect(Self.error(result)?.class == .retryable)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("A stopping process sends no more, and ends what is under way when it closes")
    func stopping() async throws {
        try await Self.withService { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(201)
        } _: { server, services in
            let sending = Task {
                await services.send((0..<50).map { Self.request(to: server, "/\($0)") }, by: .now + .seconds(60))
            }
            try await eventually { server.requests.count == 10 }
            services.stopSending()
            let later = await services.send([Self.request(to: server)], by: .now + .seconds(20))
            #expect(Self.error(later[0])?.catalogued == .stopped)
            await services.close()
            let codes = await sending.value.compactMap { Self.error($0)?.catalogued }
            #expect(codes.count == 50 && codes.count { $0 == .stopping } == 10 && codes.count { $0 == .stopped } == 40)
            #expect(server.requests.count == 10)
        }
    }
}
