import Schemas
import ServiceKit
import Testing
import Base

@testable import Operator

/// What `msi doctor` says about the messages of the canary.
@Suite("The canary's messages")
struct CanaryProbeTests {
    private static let now = UnixMilliseconds(rawValue: 1_795_680_000_000)

    private static func time(_ seconds: Int64) -> UnixMilliseconds { UnixMilliseconds(rawValue: now.rawValue - seconds * 1_000) }

    private func arrival(posted: [Int64], received: [Int64], startedBefore: Int64?) -> Finding {
        let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let probe = CanaryProbe(
            topic: topic, interval: Seconds(rawValue: 60), account: "canary", token: Secret("t"),
            gateway: ("http://127.0.0.1:1", "X"),
            isRunning: true, started: startedBefore.map(Self.time))
        let messages = posted.sorted().map { age in
            var message = Message(
                msiKey: ObjectID(),
                content: MessageContent(title: "t", desc: "", message: "m", topicKey: topic, distribution: .information),
                sender: "canary", timestamp: Self.time(age), names: CubeNames(channel: "C", area: "A", subject: "S"),
                expires: .max, relay: RelayRecord(logged: .information, due: Self.time(age)))
            if received.contains(age) { message.receipts = MessageReceipts(received: 1, opened: 0) }
            return message
        }
        return probe.arrival(CanaryMessages(messages), now: Self.now)
    }

    @Test("A message that a phone has reported within five intervals is well; silence is a failure that names what was silent")
    func arrivals() {
        #expect(arrival(posted: [10, 70], received: [70], startedBefore: 9_000).level == .ok)
        let silent = arrival(posted: [10, 70, 400], received: [400], startedBefore: 9_000)
        #expect(silent.level == .failure && silent.found.contains("nothing since the message of 400 s ago"), "\(silent)")
        let never = arrival(posted: [10, 70], received: [], startedBefore: 9_000)
        #expect(never.level == .failure && never.found.contains("none of the last 2 messages"), "\(never)")
        let mute = arrival(posted: [900], received: [900], startedBefore: 9_000)
        #expect(mute.level == .failure && mute.found.contains("has sent nothing for more than 300 s"), "\(mute)")
        #expect(arrival(posted: [], received: [], startedBefore: nil).level == .failure)
    }

    @Test("A canary that was started just now is given time")
    func started() {
        #expect(arrival(posted: [], received: [], startedBefore: 20).level == .ok)
        #expect(arrival(posted: [10], received: [], startedBefore: 20).level == .ok)
    }
}
