import Schemas
import Base

/// The messages of a load. The same seed makes the same messages.
struct MessageMix: Sendable {
    /// A message without its identity.
    struct Sample: Sendable {
        let topic: Int
        let distribution: Distribution
        let text: String

        /// The message's content.
        func content(_ index: Int, to topicKey: TopicKey) -> MessageContent {
            MessageContent(
                title: "Message \(index)", desc: distribution == .alert ? "A load test" : "", message: text,
                topicKey: topicKey, distribution: distribution)
        }
    }

    let topics: Int
    /// The share of alerts, in percent.
    let alerts: Int
    let text: ClosedRange<Int>
    let seed: UInt64

    /// One message.
    ///
    /// - Parameter index: From 0.
    func sample(_ index: Int) -> Sample {
        var random = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15)
        let isAlert = Int.random(in: 0..<100, using: &random) < alerts
        let length = Int.random(in: text, using: &random)
        return Sample(
            topic: Int.random(in: 0..<topics, using: &random), distribution: isAlert ? .alert : .information,
            text: String(String(repeating: "All lectures of today are cancelled. ", count: length / 37 + 1).prefix(length)))
    }
}
