import Testing

@testable import Operator

/// `msi send` without an answer.
@Suite("msi send without an answer")
struct UnansweredSendTests {
    @Test("The error says that the message may be stored, and how it is sent again safely")
    func key() {
        let failure = Send.unanswered(GatewayFailure(.unreachable, "the gateway does not answer within 10 s"), key: "an id")
        #expect(failure.kind == .unreachable)
        #expect(failure.description.hasPrefix("the gateway does not answer within 10 s. The message may be stored or not."))
        #expect(failure.description.hasSuffix("msi send … --idempotency-key 'an id'"))
    }
}
