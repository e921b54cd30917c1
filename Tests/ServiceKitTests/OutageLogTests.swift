import Logging
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Outage log")
struct OutageLogTests {
    private struct Away: Error {}

    @Test("An outage logs one line at its begin and one at its end, even if one kind works while the other fails")
    func twoKinds() {
        let log = RecordedLog()
        let outage = OutageLog("it fails", logger: log.logger)
        for _ in 0..<10 {
            outage.failed(Away(), of: "alerts")
            outage.worked(of: "information")
        }
        #expect(outage.isOngoing)
        #expect(log.louderThanDebug.count == 1)
        outage.worked(of: "alerts")
        #expect(!outage.isOngoing)
        #expect(log.louderThanDebug.map { $0.hasPrefix("over: it fails") } == [false, true])
        outage.worked(of: "alerts")
        #expect(log.louderThanDebug.count == 2)
    }
}
