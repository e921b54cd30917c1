import Testing

@testable import Chaos

@Suite("The verdict about processes that join")
struct JoinVerdictTests {
    @Test("A process that joins and gets no messages is a problem, and so is a failed post")
    func join() {
        let good = JoinEvidence(joined: Part.late, working: Set(Part.late))
        #expect(Part.late == [.relay2, .messageLog2, Part.webPush[1]])
        #expect(JoinVerdict(good).problems == [])
        for part in Part.late {
            var alone = good
            alone.working.remove(part)
            #expect(JoinVerdict(alone).problems == ["\(part.name) has joined, and gets no messages"])
        }
        var failed = good
        failed.interruptions = 1
        #expect(JoinVerdict(failed).problems.count == 1)
    }
}
