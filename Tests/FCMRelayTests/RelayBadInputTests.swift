import CommandBus
import Foundation
import Schemas
import ServiceKit
import TestSupport
import Testing

@Suite("FCM relay, bad input", .timeLimit(.minutes(10)))
struct RelayBadInputTests {
    @Test("Hundreds of bad requests are refused, and leave nothing behind")
    func badRequests() async throws {
        try await withTemporaryFolder { folder in
            try await withService("msi-fcm-emulator", in: folder, settings: ["MSI_FCM_EMULATOR_PORT": "0"]) { emulator in
                let settings = EmulatorAccess(port: try emulator.port, stateDirectory: folder).settings
                try await withService("msi-fcm-relay", in: folder, settings: settings) { relay in
                    let endpoint = "ipc://\(folder)/run/fcm-relay.sock"
                    // Once it has its access token and a connection, its use of resources is stable.
                    try await expectGoodMessageAccepted(at: endpoint)
                    let count = try await checkBadRequests(
                        to: relay, at: endpoint, seed: 20_261_124,
                        Array(repeating: Self.command, count: 6) + [Self.push, Self.push])
                    #expect(count >= 2 * 100)
                    try await expectGoodMessageAccepted(at: endpoint)
                }
            }
        }
    }

    private func expectGoodMessageAccepted(at endpoint: String) async throws {
        try await withBus { bus in
            let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
            let reply = try await client.request(
                RelayMessage(
                    msiKey: ObjectID(), timestamp: .now,
                    draft: MessageDraft(title: "t", desc: "d", message: "m", topicKey: Self.topic, distribution: .alert)),
                timeout: .seconds(60))
            #expect(reply.components.count == 2)
            for outcome in reply.components {
                #expect(throws: Never.self) { try outcome.result.get() }
            }
        }
    }

    private static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static let command = SampleCommand(
        "message.relay",
        SampleDocument([
            .init("msi_key", "\"\(ObjectID())\""), .init("title", "\"\(BadBusRequests.secret)\""),
            .init("desc", "\"\(BadBusRequests.secret)\""), .init("message", "\"\(BadBusRequests.secret)\""),
            .init("topic_key", "\"\(topic)\""), .init("distribution", "\"Alert\""),
            .init("expires", "253402300799999", isOptional: true), .init("components", "[\"data\"]", isOptional: true),
            .init("timestamp", "1763712000123"),
        ]))

    private static let push = SampleCommand(
        "push.relay",
        SampleDocument([
            .init("push_id", "\"\(ObjectID())\""), .init("topic", "\"news\""),
            .init("message", "{\"data\":{\"a\":\"\(BadBusRequests.secret)\"}}"),
            .init("expires", "253402300799999", isOptional: true), .init("validate_only", "false", isOptional: true),
        ]))
}
