import Bus
import Base
import FoundationEssentials
import Schemas
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import WebPush

@Suite("The stop of the Web Push service", .timeLimit(.minutes(10)))
struct WebPushServerTests {
    @Test("While it stops, no push begins, and the commands are answered with the outcome of each push")
    func stopping() async throws {
        try await withTLSServer { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(201)
        } _: { service in
            let pushServices = try PushServices(certificateAuthorityFile: service.certificateFile, logger: quietLogger)
            let results = Mutex<[Result<String, WebPushFailure>]>([])
            var router = CommandRouter()
            router.on(CountSubscriptions.self) { _, _ in
                let requests = (0..<30).map { number in
                    WebPushRequest(
                        url: "\(service.url)/\(number)", origin: service.url, isOperatorsOrigin: true, headers: ["ttl: 60"],
                        body: Data([1]))
                }
                let outcomes = await pushServices.send(requests, by: .now + .seconds(60))
                results.withLock { $0 = outcomes }
                return SubscriptionCounts(subscriptions: outcomes.count, proven: 0, hosts: [])
            }
            try await withBus { [router] bus in
                let commands = try CommandServer(bus: bus, endpoint: "tcp://127.0.0.1:0", router: router, logger: quietLogger)
                let client = try CommandClient(bus: bus, endpoints: [commands.endpoint], logger: quietLogger)
                let server = WebPushServer(server: commands, pushServices: pushServices, timeToFinish: .seconds(1))
                let group = ServiceGroup(services: [server], logger: quietLogger)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await group.run() }
                    async let reply = client.request(CountSubscriptions(), timeout: .seconds(60))
                    try await eventually { service.requests.count == 10 }
                    await group.triggerGracefulShutdown()
                    #expect(try await reply.subscriptions == 30)
                    try await tasks.waitForAll()
                }
            }
            await pushServices.close()
            let codes = results.withLock(\.self).map { result -> RelayErrorCode? in
                if case .failure(let failure) = result { failure.error.catalogued } else { nil }
            }
            #expect(codes.count { $0 == .stopped } == 20 && codes.count { $0 == .stopping } == 10)
            #expect(service.requests.count == 10)
        }
    }
}
