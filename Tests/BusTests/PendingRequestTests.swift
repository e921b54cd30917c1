import FoundationEssentials
import Schemas
import Testing

@testable import Bus

/// A request whose task waits briefly at first, and then until the end.
@Suite("A pending request")
struct PendingRequestTests {
    private func request() -> PendingRequest {
        PendingRequest(
            id: 1, header: RequestHeader(id: "1", command: "test"), payload: Data(), deadline: .max, isLocal: true)
    }

    private func waitBriefly(_ request: PendingRequest, then act: () -> Void) async -> Data? {
        let outcome = await withUnsafeContinuation { continuation in
            request.waitBriefly(with: continuation)
            act()
        }
        if case .replied(.ok, let payload) = outcome { return payload }
        return nil
    }

    private func wait(_ request: PendingRequest, then act: () -> Void = {}) async -> Data? {
        let outcome = await withUnsafeContinuation { continuation in
            request.wait(with: continuation)
            act()
        }
        if case .replied(.ok, let payload) = outcome { return payload }
        return nil
    }

    @Test("A reply during the short wait ends the request")
    func aReplyInTheFirstMoment() async {
        let request = request()
        let payload = await waitBriefly(request) { request.complete(.replied(.ok, Data([7]))) }
        #expect(payload == Data([7]))
    }

    @Test("A reply during the long wait ends the request")
    func aReplyAfterTheFirstMoment() async {
        let request = request()
        #expect(await waitBriefly(request) { request.notifySlow() } == nil)
        let payload = await wait(request) {
            // It waits for the end now, and is not notified again.
            request.notifySlow()
            request.complete(.replied(.ok, Data([7])))
        }
        #expect(payload == Data([7]))
    }

    @Test("A reply between the short and the long wait ends the request")
    func aReplyBetweenTheTwo() async {
        let request = request()
        #expect(await waitBriefly(request) { request.notifySlow() } == nil)
        request.complete(.replied(.ok, Data([7])))
        #expect(await wait(request) == Data([7]))
    }
}
