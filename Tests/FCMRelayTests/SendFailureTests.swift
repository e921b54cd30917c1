import HTTPTransport
import Schemas
import Testing

@testable import FCMRelay

@Suite("Sends without an answer")
struct SendFailureTests {
    @Test(
        "A timeout counts as a failure of FCM if FCM had time, or if nothing could be sent for long",
        arguments: [
            (true, 499, SendFailure.Scope.inconclusive), (true, 500, .service), (false, 500, .inconclusive),
            (false, 4_999, .inconclusive),
            (false, 5_000, .service),
        ])
    func timeout(wasSent: Bool, milliseconds: Int, scope: SendFailure.Scope) {
        let error = TransportError(.timeout, "no answer in time", mayHaveBeenProcessed: wasSent)
        let failure = SendFailure(error, after: .milliseconds(milliseconds))
        #expect(failure.scope == scope)
        #expect(failure.error.class == .retryable)
        #expect(failure.error.code == "TIMEOUT")
        #expect(failure.error.message.contains("FCM may have accepted it") == wasSent)
    }

    @Test("A connection that breaks during a request is a retryable error of FCM, which may have accepted the message")
    func reset() {
        let failure = SendFailure(TransportError(.reset, "reset", mayHaveBeenProcessed: true), after: .milliseconds(1))
        #expect(failure.scope == .service && failure.error.class == .retryable && failure.error.code == "NETWORK")
        #expect(failure.error.message.contains("may have accepted"))
    }
}
