import Schemas
import TestSupport

/// The conclusion about the broadcasts. Pure.
///
/// The hub's log has each accepted broadcast once, as its last answered edit or withdrawal has left it, and the audit log has one entry for
/// each change. At the end, each phone shows each active one that is for it, and no other.
struct BroadcastVerdict: Sendable {
    private(set) var problems: [String] = []
    /// The line for the report.
    let summary: String

    /// - Parameters:
    ///   - sent: By the answers to the communicator.
    ///   - logged: The log of the hub.
    ///   - audit: `nil` if the run was not about it.
    ///   - phones: `nil` if there were none.
    init(sent: [SentBroadcast], logged: [LoggedBroadcast], audit: AuditEvidence?, phones: PhoneEvidence?) {
        let active = Set(sent.lazy.filter { $0.finalState == "active" }.map(\.id))
        let visible = Set(sent.lazy.filter(\.isShown).map(\.id))
        let known = Dictionary(logged.map { ($0.id, $0) }) { $1 }
        let lost = sent.filter { known[$0.id] == nil }
        let strange = Set(known.keys).subtracting(sent.map(\.id))
        summary =
            "broadcasts: accepted=\(sent.count) active=\(active.count) lost=\(lost.count) "
            + "doubled=\(strange.count + sent.count - Set(sent.map(\.id)).count)"
        if !strange.isEmpty { problems.append("the log has broadcasts that were not accepted: \(strange.sorted())") }
        if Set(sent.map(\.id)).count < sent.count { problems.append("broadcasts were accepted under the id of another one") }
        for broadcast in sent { judge(broadcast, known[broadcast.id]) }
        if let audit { judge(audit, sent) }
        guard let report = phones?.report else { return }
        let shown = report.shown.filter { $0.value > 0 }
        for id in visible.sorted() where shown[id] != report.phones {
            problems.append("broadcast \(id) is shown by \(shown[id] ?? 0) of \(report.phones) phones")
        }
        if report.doubledBroadcasts > 0 { problems.append("phones took \(report.doubledBroadcasts) broadcasts over twice") }
        let over = Set(shown.keys).subtracting(visible)
        if !over.isEmpty { problems.append("phones show broadcasts that are over or for others: \(over.sorted())") }
    }

    private mutating func judge(_ sent: SentBroadcast, _ logged: LoggedBroadcast?) {
        guard let logged else { return problems.append("lost: \(sent)") }
        if logged.title != sent.title || logged.state != sent.finalState {
            problems.append("\(logged) was left as \(sent)")
        }
        // A push lasts for weeks, so FCM gets it after every fault. Only one that has expired may have expired on its way.
        if !logged.isAtRest || logged.push.map({ $0 != .relayed && !(sent.isShort && $0 == .expired) }) == true {
            problems.append("the push is not at FCM: \(logged)")
        }
    }

    private mutating func judge(_ audit: AuditEvidence, _ sent: [SentBroadcast]) {
        var counts: [String: [String: Int]] = [:]
        for entry in audit.entries where entry.object.kind == "broadcast" {
            counts[entry.object.id, default: [:]][entry.action, default: 0] += 1
        }
        for broadcast in sent {
            var expected = [AddBroadcast.name: 1]
            if broadcast.edits > 0 { expected[UpdateBroadcast.name] = broadcast.edits }
            if broadcast.isWithdrawn { expected[WithdrawBroadcast.name] = 1 }
            let found = counts.removeValue(forKey: "\(broadcast.id)") ?? [:]
            if found != expected { problems.append("audit: \(broadcast) has the entries \(found), expected \(expected)") }
        }
        if !counts.isEmpty { problems.append("audit: entries of broadcasts that were not accepted: \(counts.keys.sorted())") }
    }
}
