import Bus
import Foundation
import Schemas
import ServiceKit
import TestSupport
import Testing

@Suite("FCM relay, bad input", .timeLimit(.minutes(10)))
struct RelayBadInputTests {
    @Test("Hundreds of bad requests are refused, and leave nothing behind")
    func badRequests() async throws {
        try await withRelayBesideEmulator { relay in
            // Once it has its access token and a connection, its use of resources is stable.
            try await Self.expectAccepted(by: relay)
            let count = try await checkBadRequests(
                to: relay.process, at: relay.endpoint, seed: 20_261_124,
                Array(repeating: Self.command, count: 6) + [Self.push, Self.push])
            #expect(count >= 2 * 100)
            try await Self.expectAccepted(by: relay)
        }
    }

    private static func expectAccepted(by relay: RelayBesideEmulator) async throws {
        #expect(try await relay.relay(.sample()).map { $0.result.failure } == [nil, nil])
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
