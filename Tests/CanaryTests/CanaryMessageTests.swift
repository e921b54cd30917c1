import Schemas
import Testing

@testable import Canary

/// How a message of the canary ends.
@Suite("CanaryMessage")
struct CanaryMessageTests {
    @Test("A reported message is received, or late after two intervals; each stage counts once")
    func received() {
        var message = CanaryMessage(interval: .seconds(60))
        #expect(message.update(Progress(state: .pending), after: .seconds(1)) == ([], nil))
        #expect(message.update(Progress(state: .relayed), after: .seconds(2)) == ([.relayed], nil))
        #expect(message.update(Progress(state: .relayed), after: .seconds(3)) == ([], nil))
        var other = message
        #expect(message.update(Progress(state: .relayed, isReceived: true), after: .seconds(120)) == ([.received], .received))
        #expect(other.update(Progress(state: .relayed, isReceived: true), after: .seconds(121)) == ([.received], .late))
    }

    @Test("A report before the hub's word about FCM counts for both stages")
    func reportedFirst() {
        var message = CanaryMessage(interval: .seconds(60))
        #expect(
            message.update(Progress(state: .retrying, isReceived: true), after: .seconds(1)) == (
                [.relayed, .received], .received
            ))
    }

    @Test("A message that is given up is named after the last stage that it has reached")
    func givenUp() {
        var message = CanaryMessage(interval: .seconds(60))
        #expect(message.patience == .seconds(300) && message.givenUp == .notRelayed)
        _ = message.update(Progress(state: .relayed), after: .seconds(1))
        #expect(message.givenUp == .notReceived)
        for state in [RelayState.failed, .expired, .recalled] {
            var failing = CanaryMessage(interval: .seconds(60))
            #expect(failing.update(Progress(state: state), after: .seconds(1)) == ([], .notRelayed))
        }
    }

    @Test("The hub is asked often at first, and never more than ten times a second")
    func pauses() {
        #expect(
            [0, 1, 20, 300].map { CanaryMessage.pause(after: .seconds($0)) } == [
                .milliseconds(100), .milliseconds(100), .seconds(2), .seconds(5),
            ])
    }
}
