import Base
import Schemas
import TestSupport
import Testing

/// The sends of the relay's executable for repeated commands.
@Suite("Commands that come twice, beside the emulator", .timeLimit(.minutes(10)))
struct RepeatedCommandTests {
    private static func names(_ outcomes: [ComponentOutcome]) throws -> [String] {
        try outcomes.map { try $0.result.get() }
    }

    @Test("A command that is repeated while FCM has it, or after FCM accepted it, is sent once")
    func sentOnce() async throws {
        try await withRelayBesideEmulator { relay in
            try await relay.fcm.setFaults([["fault": "DELAY_REPLY", "fixed_ms": 1_000]], seed: 1)
            let message = RelayMessage.sample(.alert)
            async let first = relay.relay(message)
            async let second = relay.relay(message)
            // Like the message log after one of an Alert's components was accepted.
            async let part = relay.relay(
                RelayMessage(msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, components: [.data]))
            let names = try Self.names(try await first)
            #expect(try Self.names(try await second) == names)
            #expect(try Self.names(try await part) == [names[1]])

            // As if the relay's answer had been lost.
            try await relay.fcm.setFaults([["fault": "UNAVAILABLE"]], seed: 1)
            #expect(try Self.names(try await relay.relay(message)) == names)
            let counts = try await relay.fcm.counts()
            #expect(counts.accepted == 2 && counts.doubled == 0, "\(counts)")
        }
    }
}
