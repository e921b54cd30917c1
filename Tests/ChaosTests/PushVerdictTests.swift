import Base
import Schemas
import Testing

@testable import Chaos

/// The checks of the pushes of a chaos run, on evidence made by the tests.
@Suite("The verdict about pushes")
struct PushVerdictTests {
    /// In Unix milliseconds.
    private static let start: Int64 = 1_795_262_400_000

    private static func push(_ recipients: [PushRecipient] = [.topic("a")]) -> Push {
        Push(
            sender: "chaos", idempotencyKey: "k", transport: .fcm, fairnessKey: "f", message: [:], urgency: .high,
            logged: UnixMilliseconds(rawValue: start), expires: UnixMilliseconds(rawValue: start + 60_000),
            relay: PushRecord(logged: recipients, due: UnixMilliseconds(rawValue: start)))
    }

    /// The push after its end.
    private static func ended(
        _ push: Push, _ state: RelayState, _ parts: DeliveryState, name: String? = nil, error: DeliveryError? = nil
    ) -> Push {
        var push = push
        (push.relay.state, push.relay.nextAttempt) = (state, nil)
        for index in push.relay.recipients.indices {
            push.relay.recipients[index].state = parts
            push.relay.recipients[index].name = name
            push.relay.recipients[index].error = error
        }
        return push
    }

    private static func send(_ name: String, to recipient: PushRecipient = .topic("a"), after delay: Int64 = 0) -> PushSend {
        PushSend(place: .init(key: "k", recipient: recipient), name: name, received: start + delay)
    }

    private static func verdict(
        _ push: Push, stored: Push?, _ sends: [PushSend], _ injectedFaults: [InjectedFault] = [], storing: Int64 = 0
    ) -> PushVerdict {
        PushVerdict(
            accepted: [push], stored: stored.map { [push.id: $0] } ?? [:], sends: sends, injectedFaults: injectedFaults,
            storing: storing)
    }

    @Test("A push that a relay refused as invalid is a problem, for example of two versions side by side")
    func refused() {
        let push = Self.push()
        let verdict = Self.verdict(
            push, stored: Self.ended(push, .failed, .failed, error: DeliveryError(.relayInvalid, "an unknown field")), [])
        #expect(verdict.summary == "pushes: accepted=1 delivered=0 failed=1 lost=0 doubled=0")
        #expect(verdict.problems.first?.hasPrefix("a relay has refused") == true, "\(verdict.problems)")
    }

    @Test("A push is delivered if FCM has it for each recipient, and lost if FCM does not have it and it has not ended")
    func delivery() {
        let push = Self.push()
        let relayed = Self.ended(push, .relayed, .accepted, name: "n")
        let delivered = Self.verdict(push, stored: relayed, [Self.send("n")])
        #expect(delivered.summary == "pushes: accepted=1 delivered=1 failed=0 lost=0 doubled=0")
        #expect(delivered.problems.isEmpty)
        for stored in [nil, push, relayed] {
            let lost = Self.verdict(push, stored: stored, [])
            #expect(lost.lost == 1 && lost.problems.first?.hasPrefix("lost") == true)
        }
        let many = Self.push([.token("a"), .token("b")])
        #expect(Self.verdict(many, stored: many, [Self.send("n", to: .token("a"))]).lost == 1)
    }

    @Test("A push that has failed or expired needs a reason")
    func failure() {
        let push = Self.push()
        for (state, part) in [(RelayState.failed, DeliveryState.failed), (.expired, .expired)] {
            let good = Self.verdict(push, stored: Self.ended(push, state, part, error: DeliveryError(.noTime)), [])
            #expect(good.failed == 1 && good.problems.isEmpty)
            #expect(Self.verdict(push, stored: Self.ended(push, state, part), []).problems.count == 1)
        }
    }

    @Test("FCM has what the message log calls accepted, under the same name, and nothing else")
    func names() {
        let push = Self.push()
        let relayed = Self.ended(push, .relayed, .accepted, name: "n")
        let other = Self.verdict(push, stored: relayed, [Self.send("other")]).problems
        #expect(other.count == 2 && other.contains { $0.hasPrefix("unexplained") })
        let unknown = PushSend(place: .init(key: "u", recipient: .topic("a")), name: "u", received: Self.start)
        #expect(Self.verdict(push, stored: relayed, [Self.send("n"), unknown]).problems.count == 1)
    }

    @Test("A copy at FCM of a push that is stored as failed or expired needs a fault that explains it")
    func copyAfterFailure() {
        let push = Self.push()
        let fault = InjectedFault(part: .relay1, action: .kill, began: Self.start, ended: Self.start + 500)
        for (state, part) in [(RelayState.failed, DeliveryState.failed), (.expired, .expired)] {
            let stored = Self.ended(push, state, part, error: DeliveryError(.noTime))
            let unexplained = Self.verdict(push, stored: stored, [Self.send("n")])
            #expect(unexplained.problems.count == 1 && unexplained.problems.first?.hasPrefix("unexplained") == true)
            #expect(unexplained.doubled == 0)
            #expect(Self.verdict(push, stored: stored, [Self.send("n")], [fault]).problems.isEmpty)
        }
    }

    @Test("A doubled push needs a fault that can double it, while it was in flight")
    func doubled() {
        let push = Self.push()
        let relayed = Self.ended(push, .relayed, .accepted, name: "n")
        func problems(_ part: Part, _ action: Fault.Action, after delay: Int64, storing: Int64 = 0) -> Int {
            let fault = InjectedFault(part: part, action: action, began: Self.start + delay, ended: Self.start + delay + 500)
            let sends = [Self.send("first"), Self.send("n", after: 30_000)]
            let verdict = Self.verdict(push, stored: relayed, sends, [fault], storing: storing)
            #expect(verdict.doubled == 1)
            return verdict.problems.count
        }
        #expect(problems(.relay1, .kill, after: 100) == 0)
        #expect(problems(.emulator, .restart, after: -2_000) == 0)
        #expect(problems(.relay1, .restart, after: 100) == 1)
        #expect(problems(.relay1, .kill, after: 10_000) == 1)
        #expect(problems(.relay1, .kill, after: 10_000, storing: 20_000) == 0)
        #expect(problems(.machine, .fillDisk, after: 100) == 1)
    }
}
