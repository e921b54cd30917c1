import Bus
import Schemas
import TestSupport
import Testing
import Base

/// The order of messages when more are due than a relay can take.
@Suite("Fairness", .timeLimit(.minutes(10)))
struct FairnessTests {
    private static func topic() -> TopicKey {
        TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
    }

    @Test("An Alert that comes last goes out before a queue of Information")
    func alertsFirst() async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with { log in
            for number in 0..<300 { _ = try await log.log(.sample("\(number)", distribution: .information)) }
            let alert = try await log.log(.sample("alert", topic: Self.topic())).msiKey
            try await relay.run(in: log.folder) {
                _ = try await log.wait(for: alert) { $0.state == .relayed }
                let place = try #require(relay.asked.firstIndex { $0.msiKey == alert })
                // Commands that waited for a connection to the relay come first.
                #expect(place < 10, "\(place)")
                try await eventually { relay.asked.count == 301 }
            }
        }
    }

    @Test("Neither a flooded topic nor one that FCM refuses delays another topic")
    func topics() async throws {
        let (flooded, failing, quiet) = (Self.topic(), Self.topic(), Self.topic())
        let gate = Gate()
        let relay = RelayDouble { command in
            if command.content.topicKey == flooded { await gate.pass() }
            guard command.content.topicKey == failing else { return command.components.map(\.accepted) }
            return command.components.map { $0.refused(.retryable, "QUOTA_EXCEEDED", retryAfter: 1) }
        }
        try await RunningMessageLog.with(relay) { log in
            try await concurrently(800) { number in
                try await log.log(.sample("\(number)", topic: number % 2 == 0 ? flooded : failing))
            }
            // The relay holds the messages of the flooded topic, and refuses those of the failing one.
            for number in 0..<20 {
                let key = try await log.log(.sample("\(number)", topic: quiet)).msiKey
                _ = try await log.wait(for: key) { $0.state == .relayed }
            }
            gate.open()
            try await eventually { Set(relay.asked.filter { $0.content.topicKey == flooded }.map(\.msiKey)).count == 400 }
        }
    }

    @Test("Two message logs on one archive relay each message once")
    func twoInstances() async throws {
        let relay = RelayDouble()
        try await withTemporaryFolder { folder in
            try await RunningMessageLog.with(in: folder) { one in
                try await RunningMessageLog.with(in: folder, named: "message-log-2") { two in
                    // A queue from which both message logs take.
                    var keys: [ObjectID] = []
                    for number in 0..<100 {
                        keys.append(try await one.log(.sample("one \(number)")).msiKey)
                        keys.append(try await two.log(.sample("two \(number)")).msiKey)
                    }
                    try await relay.run(in: folder) {
                        for key in keys { _ = try await two.wait(for: key) { $0.state == .relayed } }
                        #expect(relay.asked.count == keys.count)
                        #expect(Set(relay.asked.map(\.msiKey)) == Set(keys))
                    }
                }
            }
        }
    }
}
