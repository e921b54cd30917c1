import Schemas
import TestSupport
import Testing

@testable import Chaos

/// The checks of the broadcasts of a chaos run, on evidence made by the tests.
@Suite("The verdict about broadcasts")
struct BroadcastVerdictTests {
    private func verdict(
        _ sent: [SentBroadcast], _ logged: [LoggedBroadcast], entries: [(String, String)]? = nil, shown: [Int64: Int]? = nil,
        doubled: Int = 0
    ) -> BroadcastVerdict {
        let audit = entries.map { entries in
            AuditEvidence(
                entries: entries.map { action, id in
                    AuditEntry(
                        by: AuditAuthor(actor: "ada"), action: action, object: AuditObject(kind: "broadcast", id: id))
                })
        }
        let phones = shown.map { shown in
            PhoneEvidence(
                phones: 20, unsteady: 9,
                report: FleetCount(
                    phones: 20, expected: 0, delivered: 0, doubled: 0, missing: 0, received: [:], shown: shown,
                    doubledBroadcasts: doubled),
                logFile: "phones.log")
        }
        return BroadcastVerdict(sent: sent, logged: logged, audit: audit, phones: phones)
    }

    private func logged(
        _ id: Int64 = 1, title: String = "a", state: String = "active", push: RelayState? = .relayed
    ) -> LoggedBroadcast {
        LoggedBroadcast(id: id, title: title, state: state, push: push, failure: nil)
    }

    @Test("A broadcast that is in the log and on all phones, with its entries, is not a problem; a withdrawn one is on none")
    func good() {
        let verdict = verdict(
            [SentBroadcast(id: 1, title: "a", edits: 2), SentBroadcast(id: 2, title: "b", isWithdrawn: true)],
            [logged(), logged(2, title: "b", state: "withdrawn", push: nil)],
            entries: [
                ("broadcast.add", "1"), ("broadcast.update", "1"), ("broadcast.update", "1"), ("broadcast.add", "2"),
                ("broadcast.withdraw", "2"),
            ], shown: [1: 20])
        #expect(verdict.problems == [])
        #expect(verdict.summary == "broadcasts: accepted=2 active=1 lost=0 doubled=0")
    }

    @Test("A lost, a doubled and a changed broadcast are problems, and a push that is not at FCM")
    func wrong() {
        let sent = SentBroadcast(id: 1, title: "a")
        #expect(verdict([sent], []).summary.hasSuffix("lost=1 doubled=0"))
        #expect(verdict([sent], []).problems.first?.hasPrefix("lost") == true)
        #expect(verdict([sent], [logged(), logged(2)]).summary.hasSuffix("lost=0 doubled=1"))
        #expect(verdict([sent, sent], [logged()]).problems.count == 1)
        let others = [
            logged(title: "b"), logged(state: "withdrawn"), logged(push: nil), logged(push: .failed), logged(push: .pending),
        ]
        for other in others {
            #expect(verdict([sent], [other]).problems.count == 1, "\(other)")
        }
    }

    @Test("A broadcast that expires during the run is over at the end, whatever became of its push")
    func short() {
        let sent = SentBroadcast(id: 1, title: "a", isShort: true)
        for push in [nil, .relayed, .expired] as [RelayState?] {
            #expect(verdict([sent], [logged(state: "expired", push: push)], shown: [:]).problems == [])
        }
        #expect(verdict([sent], [logged(state: "expired", push: .failed)]).problems.count == 1)
        #expect(verdict([sent], [logged(state: "active")]).problems.count == 1)
        #expect(verdict([sent], [logged(state: "expired")], shown: [1: 1]).problems.count == 1)
    }

    @Test("One that was moved to a channel of no phone, and a switch of a feature, are active, and no phone shows them")
    func invisible() {
        let moved = SentBroadcast(id: 1, title: "a", isMoved: true)
        for sent in [moved, SentBroadcast(id: 1, title: "a", kind: .featureSwitch)] {
            #expect(verdict([sent], [logged()], shown: [:]).problems == [])
            #expect(verdict([sent], [logged()], shown: [1: 1]).problems.count == 1)
            #expect(verdict([sent], [logged(state: "withdrawn")]).problems.count == 1)
        }
    }

    @Test("A missing and a second entry of the audit log are problems")
    func audit() {
        let sent = SentBroadcast(id: 1, title: "a", edits: 1)
        for actions in [["add"], ["add", "update", "update"], ["add", "add", "update"], ["update"]] {
            let verdict = verdict([sent], [logged()], entries: actions.map { ("broadcast.\($0)", "1") })
            #expect(verdict.problems.count == 1, "\(actions)")
        }
        #expect(verdict([], [], entries: [("broadcast.add", "1")]).problems.count == 1)
    }

    @Test("A phone without an active broadcast, with one that is over, or with one twice is a problem")
    func phones() {
        let sent = SentBroadcast(id: 1, title: "a")
        #expect(verdict([sent], [logged()], shown: [1: 19]).problems.count == 1)
        #expect(verdict([sent], [logged()], shown: [1: 20, 2: 1]).problems.count == 1)
        #expect(verdict([sent], [logged()], shown: [1: 20], doubled: 1).problems.count == 1)
    }
}
