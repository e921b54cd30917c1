import Base
import Schemas
import Testing

@testable import FCMEmulator
@testable import FCMRelay

/// The effect of a quota answer on later sends: the emulator's answer, the relay's reading of it, and its pacer.
@Suite("Pauses")
struct PauseTests {
    private static let now: UnixMilliseconds = 1_795_262_400_000
    private static let topic = FCMTopic.subject(TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()))
    private static let other = FCMTopic.subject(TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()))

    /// The error and the pause of a send to a topic after the answer; `nil` if it goes out.
    private func refusal(of topic: FCMTopic, after rule: JSONValue) async throws -> (code: String, seconds: Int64)? {
        let pacer = Pacer(rate: 1_000, ramp: .zero)
        pacer.learn(from: try await OrderedAnswer(rule: rule).failure(at: Self.now), about: Self.topic)
        let error = await pacer.turn(for: topic, isAlert: true, by: .now + .seconds(5))
        // Rounded up to a second: a part of it has passed already.
        return error.map { ($0.code, (($0.retryAfter ?? 0) + 999).rawValue / 1_000) }
    }

    @Test(
        "An exhausted project quota pauses all sends, for a minute or for as long as FCM says",
        arguments: [
            (["fault": "PROJECT_QUOTA"], 60), (["fault": "PROJECT_QUOTA", "body": "EMPTY"], 60),
            (["fault": "PROJECT_QUOTA", "retry_after_s": .integer(17)], 17),
            (["fault": "PROJECT_QUOTA", "retry_after_s": .integer(90), "retry_after_form": "DATE"], 90),
            // Without a body it is unknown whose quota it was.
            (["fault": "QUOTA_EXCEEDED", "body": "HTML"], 60),
        ] as [(JSONValue, Int64)])
    func project(rule: JSONValue, seconds: Int64) async throws {
        for topic in [Self.topic, Self.other] {
            let refusal = try #require(try await refusal(of: topic, after: rule))
            #expect(refusal == ("PROJECT_PAUSED", seconds))
        }
    }

    @Test(
        "An exhausted topic quota pauses that topic alone",
        arguments: [
            (["fault": "QUOTA_EXCEEDED"], 60), (["fault": "QUOTA_EXCEEDED", "retry_after_s": .integer(17)], 17),
            (["fault": "QUOTA_EXCEEDED", "retry_after_s": .integer(90), "retry_after_form": "DATE"], 90),
        ] as [(JSONValue, Int64)])
    func topic(rule: JSONValue, seconds: Int64) async throws {
        let refusal = try #require(try await refusal(of: Self.topic, after: rule))
        #expect(refusal == ("TOPIC_PAUSED", seconds))
        #expect(try await self.refusal(of: Self.other, after: rule) == nil)
    }

    @Test(
        "No other answer of FCM pauses any sends",
        arguments: ["UNAVAILABLE", "INTERNAL", "BAD_GATEWAY", "UNAUTHENTICATED", "INVALID_ARGUMENT", "UNREGISTERED"])
    func others(fault: String) async throws {
        #expect(try await refusal(of: Self.topic, after: ["fault": .string(fault), "retry_after_s": .integer(60)]) == nil)
    }
}
