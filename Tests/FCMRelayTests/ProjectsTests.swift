import Bus
import FCM
import Schemas
import Testing
import Base

@testable import FCMRelay

@Suite("Several Firebase projects", .timeLimit(.minutes(10)))
struct ProjectsTests {
    private static func handler(_ projects: Projects) -> RelayHandler {
        RelayHandler(projects: projects, limit: .topic, now: { .now })
    }

    private static let context = CommandContext(id: "1", command: RelayMessage.name, deadline: nil, logger: .quiet)

    private static func message(_ channel: ObjectID, project: String? = nil) -> RelayMessage {
        RelayMessage(
            msiKey: ObjectID(), timestamp: .now,
            content: MessageContent(
                title: "t", desc: "d", message: "m", topicKey: TopicKey(channel: channel, area: ObjectID(), subject: ObjectID()),
                distribution: .information),
            project: project)
    }

    private static func codes(_ reply: RelayMessage.Reply) -> [String] {
        reply.components.map { outcome in
            switch outcome.result {
            case .success(let name): name
            case .failure(let error): error.code
            }
        }
    }

    @Test("A channel's messages go through its project, and all others through the first, unless the command names one")
    func byChannel() async throws {
        let library = ObjectID()
        let handler = Self.handler(
            Projects(
                standard: .sample("campus", RecordingSender { _ in .success("campus") }),
                others: [(.sample("library", RecordingSender { _ in .success("library") }), [library])]))
        #expect(Self.codes(try await handler.relay(Self.message(library), Self.context)) == ["library"])
        #expect(Self.codes(try await handler.relay(Self.message(ObjectID()), Self.context)) == ["campus"])
        #expect(Self.codes(try await handler.relay(Self.message(library, project: "campus"), Self.context)) == ["campus"])
        let failure = await #expect(throws: CommandFailure.self) {
            try await handler.relay(Self.message(library, project: "nobody"), Self.context)
        }
        #expect(failure?.status == .notFound)
        #expect(failure?.field == "project")
    }

    @Test("A project that hangs becomes full and refuses commands, while other projects go on")
    func isolation() async throws {
        let library = ObjectID()
        let (stream, gate) = AsyncStream.makeStream(of: Void.self)
        let hanging = RecordingSender { _ in
            for await _ in stream {}
            return .failure(SendFailure(DeliveryError(class: .retryable, code: "TIMEOUT", message: "-"), scope: .service))
        }
        let well = RecordingSender { _ in .success("campus") }
        let handler = Self.handler(
            Projects(standard: .sample("campus", well), others: [(.sample("library", hanging), [library])]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Project.maxInFlight {
                group.addTask { _ = try await handler.relay(Self.message(library), Self.context) }
            }
            while hanging.sent.count < Project.maxInFlight { try await Task.sleep(for: .milliseconds(5)) }
            let failure = await #expect(throws: CommandFailure.self) {
                try await handler.relay(Self.message(library), Self.context)
            }
            #expect(failure?.status == .overloaded)
            for _ in 0..<100 {
                #expect(Self.codes(try await handler.relay(Self.message(ObjectID()), Self.context)) == ["campus"])
            }
            gate.finish()
            try await group.waitForAll()
        }
        // On a busy machine the pause may be over by now, and one message goes as the probe.
        _ = try await handler.relay(Self.message(library), Self.context)
        let before = hanging.sent.count
        #expect(Self.codes(try await handler.relay(Self.message(library), Self.context)) == ["CIRCUIT_OPEN"])
        #expect(hanging.sent.count == before)
        #expect(Self.codes(try await handler.relay(Self.message(ObjectID()), Self.context)) == ["campus"])
    }

    @Test("A project with an exhausted quota pauses alone")
    func quota() async throws {
        let library = ObjectID()
        let exhausted = RecordingSender { _ in
            .failure(
                SendFailure(
                    DeliveryError(class: .retryable, code: "RATE_LIMIT_EXCEEDED", message: "-", retryAfter: 60_000),
                    scope: .project))
        }
        let handler = Self.handler(
            Projects(
                standard: .sample("campus", RecordingSender { _ in .success("campus") }),
                others: [(.sample("library", exhausted), [library])]))
        #expect(Self.codes(try await handler.relay(Self.message(library), Self.context)) == ["RATE_LIMIT_EXCEEDED"])
        #expect(Self.codes(try await handler.relay(Self.message(library), Self.context)) == ["PROJECT_PAUSED"])
        #expect(Self.codes(try await handler.relay(Self.message(ObjectID()), Self.context)) == ["campus"])
    }
}
