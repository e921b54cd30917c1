import TestSupport
import Testing

@testable import MobileApp

@Suite("Requests to look at the hub", .timeLimit(.minutes(10)))
struct RefreshRequestTests {
    @Test("A request that nobody waits for is kept, and the more urgent one counts")
    func kept() async {
        let requests = RefreshRequests()
        requests.add(.now)
        requests.add(.soon)
        #expect(await requests.next() == .now)
    }

    @Test("A request after a cancelled wait is kept")
    func afterCancellation() async {
        let requests = RefreshRequests()
        let wait = Task { await requests.next() }
        wait.cancel()
        #expect(await wait.value == nil)
        requests.add(.soon)
        #expect(await requests.next() == .soon)
    }
}
