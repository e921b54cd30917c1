import Bus
import FCM
import FoundationEssentials
import HTTPTransport
import HTTPTypes
import Logging
import Schemas
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Base

@testable import FCMRelay

/// The relay over its real socket, with a double of Google.
@Suite("The relay over the bus")
struct RelayServiceTests {
    private struct Relay: Sendable {
        let client: CommandClient
        let google: GoogleDouble
        let server: TLSServer
        let group: ServiceGroup
    }

    private func withRelay(
        _ fcm: @escaping GoogleDouble.FCM, timeToFinish: Duration = .seconds(5),
        _ body: @escaping @Sendable (Relay) async throws -> Void
    ) async throws {
        let google = GoogleDouble(fcm: fcm)
        try await withTLSServer(answer: google.answer) { server in
            let transport = try CurlTransport(.fcm(trusting: server.certificateFile))
            let account = try await ServiceAccount(json: ServiceAccountFile.json(tokenURI: server.url + "/token"))
            let tokens = AccessTokenSource(
                granter: TokenEndpoint(account: account, transport: transport, now: { .now }), project: "p", logger: .quiet)
            let api = GoogleClient(transport: transport, tokens: tokens)
            let project = Project(
                id: account.projectID, google: api,
                sender: HTTPv1Sender(endpoint: server.url, project: account.projectID, google: api, now: { .now }),
                topics: TopicManager(endpoint: server.url, google: api, now: { .now }),
                pacer: Pacer(rate: 1_000_000, ramp: .zero))
            let projects = Projects(standard: project)
            let bus = try Bus(logger: .quiet)
            let commands = try CommandServer(
                bus: bus, endpoint: "tcp://127.0.0.1:0",
                router: .relay(
                    RelayHandler(projects: projects, limit: .topic, now: { .now }),
                    PushHandler(projects: projects, limit: .topic, now: { .now }), TopicHandler(projects: projects)),
                logger: .quiet)
            let client = try CommandClient(bus: bus, endpoints: [commands.endpoint], logger: .quiet)
            let service = RelayService(server: commands, projects: projects.all, timeToFinish: timeToFinish)
            let group = ServiceGroup(services: [service], logger: .quiet)
            do {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await group.run() }
                    try await body(Relay(client: client, google: google, server: server, group: group))
                    await group.triggerGracefulShutdown()
                    try await tasks.waitForAll()
                }
            } catch {
                await bus.close()
                await project.close()
                throw error
            }
            await bus.close()
            await project.close()
        }
    }

    @Test("If one component fails, the other is accepted")
    func onlyWhatFailedIsNotAccepted() async throws {
        try await withRelay { request in
            String(decoding: request.body, as: UTF8.self).contains("\"notification\":{\"body\"")
                ? .init(
                    503, #"{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}"#, headers: [.retryAfter: "12"])
                : .init(200, #"{"name":"d"}"#)
        } _: { relay in
            let reply = try await relay.client.request(RelayMessage.sample(), timeout: .seconds(60))
            let error = DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "Busy.", retryAfter: 12_000)
            #expect(
                reply.components == [
                    ComponentOutcome(component: .notification, result: .failure(error)),
                    ComponentOutcome(component: .data, result: .success("d")),
                ])
        }
    }

    @Test("The relay has an access token before the first message arrives")
    func aTokenIsThereBeforeTheFirstMessage() async throws {
        try await withRelay { _ in
            .init(200, #"{"name":"d"}"#)
        } _: { relay in
            try await eventually { relay.google.grants == 1 }
            _ = try await relay.client.request(RelayMessage.sample(), timeout: .seconds(60))
            #expect(relay.google.grants == 1)
        }
    }

    @Test("While FCM fails, the relay is unavailable, and its health says why")
    func whileFCMFailsTheRelayIsUnavailableAndItsHealthSaysWhy() async throws {
        let isBack = Mutex(false)
        try await withRelay { _ in
            if isBack.withLock(\.self) { return .init(200, #"{"name":"d"}"#) }
            return .init(503, #"{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}"#)
        } _: { relay in
            func health() async throws -> PartHealth? {
                try await relay.client.request(CheckHealth(), timeout: .seconds(60)).parts["fcm"]
            }
            func relayed() async throws(CommandFailure) -> [ComponentOutcome] {
                try await relay.client.request(RelayMessage.sample(.information), timeout: .seconds(60)).components
            }
            #expect(try await health() == .ok)
            _ = try await relayed()
            #expect(try await health()?.message?.hasPrefix("UNAVAILABLE: Busy., since 20") == true)
            for _ in 0..<19 { _ = try await relayed() }
            // On a busy machine a pause may be over by now, and one message goes as the probe.
            let failure = try await eventually("a refusal") { () async -> CommandFailure? in
                do throws(CommandFailure) {
                    _ = try await relayed()
                    return nil
                } catch {
                    return error
                }
            }
            #expect(failure.status == .unavailable)
            #expect(failure.message.hasPrefix("CIRCUIT_OPEN: FCM has failed"))
            // Another relay may reach FCM, so there is no `retry_after`.
            #expect(failure.retryAfter == nil)
            let open = try await health()
            #expect(open?.status == .unavailable)
            #expect(open?.message?.contains("UNAVAILABLE: Busy., since 20") == true)

            isBack.withLock { $0 = true }
            try await eventually { await relay.client.failure(of: RelayMessage.sample(.information)) == nil }
            #expect(try await health() == .ok)
            // The probe uses a new connection.
            #expect(relay.server.connections >= 2)
        }
    }

    @Test("The health says that there is no access token")
    func healthSaysThatThereIsNoAccessToken() async throws {
        try await withRelay { _ in
            .init(200, #"{"name":"d"}"#)
        } _: { relay in
            try await eventually { relay.google.grants == 1 }
            relay.google.revokeTokens()
            relay.google.refuseTokens(with: .init(400, #"{"error":"invalid_grant"}"#))
            // FCM refuses the token, and Google issues no other one.
            _ = try await relay.client.request(RelayMessage.sample(.information), timeout: .seconds(60))
            let health = try await relay.client.request(CheckHealth(), timeout: .seconds(60)).parts["fcm"]
            #expect(health?.status == .unavailable)
            #expect(health?.message?.hasPrefix("OAUTH: ") == true)
        }
    }

    @Test("A stop waits for the sends in flight")
    func stoppingFinishesWhatIsUnderWay() async throws {
        try await withRelay { _ in
            try await Task.sleep(for: .milliseconds(500))
            return .init(200, #"{"name":"d"}"#)
        } _: { relay in
            async let reply = relay.client.request(RelayMessage.sample(.information), timeout: .seconds(60))
            try await eventually { relay.server.requests.contains { $0.path != "/token" } }
            await relay.group.triggerGracefulShutdown()
            #expect(try await reply.components == [ComponentOutcome(component: .data, result: .success("d"))])
        }
    }

    @Test("A stop answers the commands that it cannot finish")
    func stoppingAnswersWhatItCannotFinish() async throws {
        try await withRelay(
            { _ in
                try await Task.sleep(for: .seconds(60))
                return .init(200)
            }, timeToFinish: .milliseconds(200)
        ) { relay in
            async let reply = relay.client.request(RelayMessage.sample(), timeout: .seconds(60))
            try await eventually { relay.server.requests.count { $0.path != "/token" } == 2 }
            await relay.group.triggerGracefulShutdown()
            let components = try await reply.components
            #expect(components.map(\.component) == [.notification, .data])
            for outcome in components {
                let error = try #require(outcome.result.failure)
                #expect(error.class == .retryable)
                #expect(error.code == "STOPPING")
                #expect(error.message.contains("may have accepted"))
            }
        }
    }
}
