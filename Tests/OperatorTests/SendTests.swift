import ArgumentParser
@testable import Operator
import Testing

/// What `msi send` asks the gateway for.
@Suite("msi send's parameters")
struct SendParametersTests {
    @Test("The main link goes to the gateway as it was given, and without one there is no parameter")
    func link() throws {
        let send = try #require(
            try Send.parseAsRoot(["Campus/Weather/Storms", "Stay at home", "--link", "https://example.edu/a?b=c&d"]) as? Send)
        #expect(send.parameters.map(\.name) == ["link"])
        #expect(send.parameters.map(\.value) == ["https://example.edu/a?b=c&d"])
        let plain = try #require(try Send.parseAsRoot(["Campus/Weather/Storms", "Stay at home"]) as? Send)
        #expect(plain.parameters.isEmpty)
    }
}

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
