import Bus
import Base
import Schemas
import TestSupport
import Testing

@testable import MessageLog

/// A message log that hands over pop-ups before data, at an FCM of one delivery a second.
@Suite("Pop-ups before data", .timeLimit(.minutes(10)))
struct FanOutsOverTheBusTests {
    private static let elsewhere = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    /// Runs a test with a message log that knows of phones of the sample topic.
    private static func with(
        phones: Int, rate: Int = 1, on kind: StoreKind, _ body: (RunningMessageLog, RelayDouble) async throws -> Void
    ) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind, settings: ["MSI_FCM_FANOUT_RATE": "\(rate)"]) { log in
            let earlier = try await log.log(.sample("earlier", distribution: .information)).msiKey
            _ = try await log.wait(for: earlier) { $0.state == .relayed }
            for _ in 0..<phones {
                _ = try await log.client.request(
                    AddReceipts(installation: ObjectID(), report: 1, received: [earlier], opened: []))
            }
            #expect(try await log.client.request(ReadReach(topicKey: .sample)).counted?.received == Int64(phones))
            try await body(log, relay)
        }
    }

    @Test(
        "While FCM delivers a pop-up to many phones, data to many phones waits, and nothing else does; apps have the Alert",
        arguments: StoreKind.ofRules)
    func waits(_ kind: StoreKind) async throws {
        try await Self.with(phones: 30, on: kind) { log, relay in
            let key = try await log.log(.sample("many phones")).msiKey
            let record = try await log.wait(for: key) { $0.components[0].state == .accepted }
            #expect(record.state == .retrying && record.attempts == 1 && record.lease == nil)
            #expect(record.components[1].state == .pending && record.components[1].error?.code == "FAN_OUT")
            let (popUp, next) = (try #require(record.components[0].acceptedAt), try #require(record.nextAttempt))
            #expect((20_000...30_001).contains(next - popUp))
            let page = try await log.client.request(ReadAccepted(topics: [.sample]))
            #expect(page.messages.map(\.title) == ["earlier", "many phones"] && page.waiting == nil)
            let refusal = await log.client.failure(of: RecallMessage(msiKey: key), context: .communicator)
            #expect(refusal?.status == .conflict)

            let information = try await log.log(.sample("information", distribution: .information)).msiKey
            let waiting = try await log.wait(for: information) { $0.components[0].error != nil }
            #expect(waiting.state == .pending && waiting.attempts == 0 && waiting.accepted == nil)
            #expect(waiting.components[0].error?.code == "FAN_OUT")
            let recalled = try await log.client.request(RecallMessage(msiKey: information), context: .communicator)
            #expect(recalled.relay.state == .recalled && relay.asked(information).isEmpty)

            for distribution in [Distribution.alert, .information] {
                let other = try await log.log(.sample("few phones", distribution: distribution, topic: Self.elsewhere)).msiKey
                _ = try await log.wait(for: other) { $0.state == .relayed }
                #expect(relay.asked(other) == [distribution.components])
            }
            #expect(relay.asked(key) == [[.notification]])
        }
    }

    @Test("When FCM has delivered the pop-up, the data goes out", arguments: StoreKind.ofRules)
    func ends(_ kind: StoreKind) async throws {
        try await Self.with(phones: 3, on: kind) { log, relay in
            let key = try await log.log(.sample()).msiKey
            let record = try await log.wait(for: key) { $0.state == .relayed }
            #expect(relay.asked(key) == [[.notification], [.data]])
            #expect(record.attempts == 2 && record.components.map(\.error) == [nil, nil])
            let (popUp, data) = (
                try #require(record.components[0].acceptedAt), try #require(record.components[1].acceptedAt)
            )
            let accepted = try #require(record.accepted)
            #expect(data - popUp >= 2_000 && data - accepted >= 2_000)
            let page = try await log.client.request(ReadAccepted(topics: [.sample]))
            #expect(page.messages.count == 2)
        }
    }

    @Test("At a rate of 0, and at one that leaves less than half a second, both components go out at once", arguments: [0, 100])
    func together(rate: Int) async throws {
        try await Self.with(phones: 10, rate: rate, on: .sqlite) { log, relay in
            let key = try await log.log(.sample()).msiKey
            let record = try await log.wait(for: key) { $0.state == .relayed }
            #expect(relay.asked(key) == [[.notification, .data]] && record.attempts == 1)
        }
    }
}
