import Base
import Schemas

/// The pushes that the programs log: to topics, conditions and phones, with short and long lifetimes.
struct PushMix: Sendable {
    static let topics = (0..<4).map { "chaos-push-\($0)" }

    let seed: UInt64
    /// The registration tokens of the emulator's phones.
    let tokens: [String]

    func push(client: Int, number: Int) -> LogPush {
        var random = SeededGenerator(seed: ~seed ^ UInt64(client) << 40 ^ UInt64(number))
        let key = "chaos-push-\(client)-\(number)"
        let lifetime: Milliseconds = [10_000, 60_000, 300_000].randomElement(using: &random) ?? 0
        return LogPush(
            idempotencyKey: key, recipients: recipients(&random), fairnessKey: "chaos-\(client % 3)",
            // With the key in its data, the emulator's archive shows which push a send belongs to.
            message: ["data": [PushSend.keyName: .string(key)]], expires: .now + lifetime)
    }

    private func recipients(_ random: inout SeededGenerator) -> [PushRecipient] {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: [.topic(Self.topics[Int.random(in: Self.topics.indices, using: &random)])]
        case 1: [.condition("'\(Self.topics[0])' in topics || '\(Self.topics[1])' in topics")]
        default: tokens.prefix(Int.random(in: 1...tokens.count, using: &random)).map(PushRecipient.token)
        }
    }
}
