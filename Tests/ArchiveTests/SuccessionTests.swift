import Schemas
import Testing

@testable import Archive

/// Which of two relay records is older.
@Suite("The succession of relay records")
struct SuccessionTests {
    private static let logged = RelayRecord(logged: .alert, due: 5)

    private static func record(_ change: (inout RelayRecord) -> Void) -> RelayRecord {
        var record = logged
        change(&record)
        return record
    }

    private static func accept(_ indices: [Int], in record: inout RelayRecord) {
        for index in indices { (record.components[index].state, record.components[index].name) = (.accepted, "n") }
    }

    private static let leased = record {
        $0.lease = Lease(owner: "o", until: 90)
        $0.nextAttempt = 90
    }
    private static let half = record {
        accept([0], in: &$0)
        ($0.state, $0.attempts) = (.retrying, 1)
    }
    private static let relayed = record {
        accept([0, 1], in: &$0)
        ($0.state, $0.attempts, $0.nextAttempt) = (.relayed, 2, nil)
    }
    private static let recalled = record {
        for index in $0.components.indices { $0.components[index].state = .recalled }
        ($0.state, $0.nextAttempt, $0.trace) = (.recalled, nil, [Intervention(action: .recall, at: 7, by: "ann")])
    }
    /// A block of Web Push whose message was recalled.
    private static let ended = record {
        for index in $0.components.indices { $0.components[index].state = .recalled }
        ($0.state, $0.nextAttempt) = (.recalled, nil)
    }
    private static let expired = record {
        for index in $0.components.indices { $0.components[index].state = .expired }
        ($0.state, $0.nextAttempt) = (.expired, nil)
    }
    private static let failed = record {
        accept([0], in: &$0)
        $0.components[1].state = .failed
        ($0.state, $0.attempts, $0.nextAttempt) = (.failed, 2, nil)
    }
    private static let retried = record {
        accept([0], in: &$0)
        ($0.state, $0.attempts, $0.trace) = (.retrying, 2, [Intervention(action: .retry, at: 8, by: "ann")])
    }

    private static let held = RelayRecord(held: .alert, until: 9)
    private static let approved = record { $0.trace = [Intervention(action: .approve, at: 6, by: "ann")] }
    private static let relayedAfterRetry = record {
        accept([0, 1], in: &$0)
        ($0.state, $0.attempts, $0.nextAttempt) = (.relayed, 3, nil)
        $0.trace = [Intervention(action: .retry, at: 8, by: "ann")]
    }

    @Test(
        "Every record is a successor of the earlier records of its message, and never the reverse",
        arguments: [
            [logged, half, relayed], [logged, leased, half, failed, retried, relayedAfterRetry], [leased, recalled],
            [logged, leased, ended], [logged, expired], [held, approved], [held, expired], [held, recalled],
        ])
    func order(_ life: [RelayRecord]) {
        for (earlier, record) in life.enumerated() {
            for (later, other) in life.enumerated() where earlier < later { #expect(record.canHaveBecome(other)) }
            for other in life[..<earlier] where other.lease == nil && record.lease == nil {
                #expect(!record.canHaveBecome(other))
            }
            #expect(record.canHaveBecome(record))
        }
    }

    @Test(
        "Records that have diverged do not succeed each other",
        arguments: [
            [relayed, recalled, retried], [expired, recalled, retried], [approved, recalled], [answered("500"), answered("503")],
        ])
    func branches(_ records: [RelayRecord]) {
        for one in records {
            for other in records where one != other { #expect(!one.canHaveBecome(other)) }
        }
    }

    private static func answered(_ code: String) -> RelayRecord {
        record {
            $0.components[0].error = DeliveryError(class: .retryable, code: code, message: "m")
            ($0.state, $0.attempts) = (.retrying, 1)
        }
    }

    @Test("FCM's name of a component never changes, and an answer may come after the deadline")
    func acceptance() {
        var renamed = Self.relayed
        renamed.components[0].name = "another"
        #expect(!Self.half.canHaveBecome(renamed))
        #expect(Self.expired.canHaveBecome(Self.relayed))
        #expect(!Self.relayed.canHaveBecome(Self.expired))
    }
}
