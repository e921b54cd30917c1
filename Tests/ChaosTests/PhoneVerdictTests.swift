import TestSupport
import Testing

@testable import Chaos

@Suite("The verdict about the phones of a chaos run")
struct PhoneVerdictTests {
    private func verdict(
        report: FleetCount?, data state: String = "accepted", sent: Set<String> = ["m"], receipts: Int? = nil
    ) -> PhoneVerdict {
        let message = ArchivedMessage(
            msiKey: "m", due: 0, expires: 60_000, state: "relayed",
            components: [.init(component: SentComponent(msiKey: "m", name: "data"), state: state, name: "n")])
        return PhoneVerdict(
            PhoneEvidence(
                phones: 20, unsteady: 9, report: report, logFile: "phones.log", sent: sent,
                receipts: ["m": receipts ?? report?.received["m"] ?? 0]), archive: ["m": message])
    }

    private func report(
        phones: Int = 20, delivered: Int = 20, doubled: Int = 0, missing: Int = 0, received: [String: Int] = ["m": 20]
    ) -> FleetCount {
        FleetCount(
            phones: phones, expected: delivered + missing, delivered: delivered, doubled: doubled, missing: missing,
            received: received)
    }

    @Test("A message that is on each phone once is not a problem")
    func complete() {
        let verdict = verdict(report: report())
        #expect(verdict.problems == [])
        #expect(verdict.summary == "phones: count=20 expected=20 delivered=20 missing=0 doubled=0")
    }

    @Test("Phones without a report, missing messages and doubled ones are problems")
    func incomplete() {
        #expect(verdict(report: nil).problems.count == 1)
        #expect(verdict(report: report(phones: 19)).problems.count == 1)
        #expect(verdict(report: report(missing: 1)).problems.count == 1)
        #expect(verdict(report: report(doubled: 1)).problems.count == 1)
    }

    @Test("A message that more or fewer phones have reported to the hub than have it is a problem")
    func receipts() {
        for receipts in [0, 19, 21] { #expect(verdict(report: report(), receipts: receipts).problems.count == 1) }
    }

    @Test("A message that the hub does not return is missing if FCM has accepted its data according to our archive")
    func independent() {
        for received in [[:], ["m": 19]] {
            #expect(verdict(report: report(received: received)).problems.count == 1)
        }
        // FCM's answer was lost, and the message expired: those that were connected have it.
        #expect(verdict(report: report(received: ["m": 19]), data: "expired").problems == [])
        // A subject of no phone.
        #expect(verdict(report: report(received: [:]), sent: []).problems == [])
    }

    @Test("Persons who are not signed in, and pushes to them that are missing or on other phones, are problems")
    func persons() {
        func problems(_ persons: FleetCount.Persons?) -> Int {
            let report = FleetCount(
                phones: 20, expected: 0, delivered: 0, doubled: 0, missing: 0, received: [:], persons: persons)
            let evidence = PhoneEvidence(phones: 20, unsteady: 9, accounts: 5, report: report, logFile: "phones.log")
            return PhoneVerdict(evidence, archive: [:]).problems.count
        }
        #expect(problems(nil) == 1)
        #expect(problems(.init(accounts: 4, expected: 8)) == 1)
        #expect(problems(.init(accounts: 5, expected: 8, missing: 1)) == 1)
        #expect(problems(.init(accounts: 5, expected: 8, stray: 1)) == 1)
        // The phone has replaced the pop-up.
        #expect(problems(.init(accounts: 5, expected: 8, doubled: 1)) == 0)
    }

    @Test("A fleet's report is its last line, and the lines before it say what is on the phones")
    func reading() {
        let lines = [
            #"{"level":"info","message":"received","msi_key":"m","phones":"20"}"#, "no JSON",
            #"{"message":"every phone has the broadcast","broadcast":"7"}"#,
            #"{"message":"feature of steady phones","feature":"maps","phones":"9,12"}"#,
            #"{"message":"feature","feature":"maps","phones":"1,9,12"}"#,
            #"{"phones":20,"expected":21,"delivered":20,"doubled":0,"missing":1,"p50_ms":38,"p99_ms":120.5,"max_ms":131,"#
                + #""persons":{"accounts":5,"expected":8,"missing":0,"doubled":0,"stray":0}}"#,
        ]
        let count = FleetCount(log: lines)
        #expect(count?.received == ["m": 20] && count?.expected == 21 && count?.missing == 1)
        #expect(count?.features == ["maps": [1, 9, 12]])
        #expect(count?.arrivals == [.init(broadcast: 7, features: ["maps": [9, 12]])])
        #expect(count?.persons == .init(accounts: 5, expected: 8))
        #expect(count?.p50 == 38 && count?.p99 == 120.5 && count?.max == 131)
        #expect(FleetCount(log: lines.dropLast()) == nil)
    }
}
