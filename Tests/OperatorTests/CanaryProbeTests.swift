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

    private let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private func probe(startedBefore: Int64?, usesWebPush: Bool = true) -> CanaryProbe {
        CanaryProbe(
            topic: topic, interval: Seconds(rawValue: 60), account: "canary", token: Secret("t"),
            gateway: ("http://127.0.0.1:1", "X"),
            isRunning: true, started: startedBefore.map(Self.time), usesWebPush: usesWebPush)
    }

    private func messages(posted: [Int64], received: [Int64] = [], text: String = "m") -> CanaryMessages? {
        let messages = posted.sorted().map { age in
            var message = Message(
                msiKey: ObjectID(),
                content: MessageContent(title: "t", desc: "", message: text, topicKey: topic, distribution: .information),
                sender: "canary", timestamp: Self.time(age), names: CubeNames(channel: "C", area: "A", subject: "S"),
                expires: .max, relay: RelayRecord(logged: .information, due: Self.time(age)))
            if received.contains(age) { message.receipts = MessageReceipts(received: 1, opened: 0) }
            return message
        }
        return CanaryMessages(messages)
    }

    private func arrival(posted: [Int64], received: [Int64], startedBefore: Int64?) -> Finding {
        probe(startedBefore: startedBefore).arrival(messages(posted: posted, received: received), now: Self.now)
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

    @Test("The canary's last push is named with its time, or with the reason why none arrives")
    func pushes() throws {
        func finding(_ push: CanaryText.Push?, startedBefore: Int64 = 9_000, usesWebPush: Bool = true) -> Finding? {
            let text = "\(CanaryText(sent: Self.time(10), push: push))"
            return probe(startedBefore: startedBefore, usesWebPush: usesWebPush)
                .pushes(messages(posted: [10, 70], text: text), now: Self.now)
        }
        #expect(finding(.arrived(after: 412)) == Finding.ok(.canary, "the canary's last push arrived after 412 ms"))
        let missing = try #require(finding(.missing(reason: "the gateway answers 404")))
        #expect(missing.level == .failure && missing.found == "no push arrives at the canary: the gateway answers 404")
        #expect(missing.advice?.contains("MSICanaryPushSilent") == true)
        #expect(finding(.missing(reason: "none has ended"), startedBefore: 20)?.level == .ok)
        #expect(finding(nil)?.found.contains("MSI_CANARY_PUSH_PORT") == true)
        #expect(finding(nil, usesWebPush: false) == nil)
        #expect(probe(startedBefore: nil).pushes(nil, now: Self.now) == nil)
    }

    @Test("A canary that was started just now is given time")
    func started() {
        #expect(arrival(posted: [], received: [], startedBefore: 20).level == .ok)
        #expect(arrival(posted: [10], received: [], startedBefore: 20).level == .ok)
    }
}
