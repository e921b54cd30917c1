import TestSupport
import Testing

@testable import Chaos

/// The check of a feature that is on for a share of the phones, on reports made by the tests.
@Suite("The verdict about a feature of the app")
struct FeatureVerdictTests {
    /// - Parameters:
    ///   - during: The steady phones for which the feature was on, after each arrival of a broadcast. The second one is a switch.
    ///   - end: The phones for which it is on at the end. Of twenty, the first nine are unsteady.
    private func problems(during: [[Int]], end: [Int]) -> [String] {
        let arrivals = during.enumerated().map { number, phones in
            FleetCount.Arrival(broadcast: Int64(number), features: ["maps": phones])
        }
        let report = FleetCount(
            phones: 20, expected: 0, delivered: 0, doubled: 0, missing: 0, received: [:], features: ["maps": end],
            arrivals: arrivals)
        return FeatureVerdict(
            PhoneEvidence(phones: 20, unsteady: 9, report: report, logFile: "phones.log"),
            sent: [SentBroadcast(id: 0, title: "a"), SentBroadcast(id: 1, title: "maps", kind: .featureSwitch)]
        ).problems
    }

    @Test("A feature that stays on for the same phones since the first switch is right, whatever was before")
    func right() {
        #expect(problems(during: [[], [10, 12], [10, 12]], end: [1, 4, 10, 12]) == [])
        #expect(problems(during: [[11], [10, 12]], end: [10, 12]) == [])
    }

    @Test("Another phone after a later switch, after a restart or at the end is a problem, and a switch that does not arrive")
    func wrong() {
        #expect(problems(during: [[], [10, 12], [10, 13], [10, 12]], end: [10, 12]).count == 1)
        #expect(problems(during: [[], [10, 12], [10]], end: [10, 12]).count == 1)
        #expect(problems(during: [[], [10, 12]], end: [10, 12, 13]).count == 1)
        #expect(problems(during: [[10, 12]], end: [10, 12]).count == 1)
    }

    @Test("A feature that is on for all phones or for none is a problem")
    func share() {
        #expect(problems(during: [[], []], end: []).count == 1)
        #expect(problems(during: [[], Array(9..<20)], end: Array(0..<20)).count == 1)
    }
}
