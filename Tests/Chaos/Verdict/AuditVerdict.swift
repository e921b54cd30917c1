import Schemas
import TestSupport

/// Whether the audit log is whole, and has exactly one entry for everything that was done with a message, with who did it and from
/// where. Pure.
struct AuditVerdict: Sendable {
    let problems: [String]
    private let entries: Int

    /// The line for the report.
    var summary: String {
        "audit: \(entries) entries of messages, " + (problems.isEmpty ? "none lost or doubled" : "not as expected")
    }

    private static let maxNamed = 5
    /// Everyone is on this machine.
    private static let address = "127.0.0.1"

    /// - Parameters:
    ///   - log: The audit log.
    ///   - accepted: The keys of the messages that were answered with 201.
    ///   - archive: The states of all messages of the archive, by their keys.
    ///   - interventions: What was done and answered with 200.
    init(_ log: AuditEvidence, accepted: [String], archive: [String: String], interventions: [Interventions.Done]) {
        var problems: [String] = []
        if let fault = log.fault { problems.append("the audit log is broken: \(fault)") }
        if let refusal = log.refusal { problems.append("msi audit verify refuses the audit log: \(refusal)") }
        func check(_ keys: some Collection<String>, _ problem: String) {
            guard !keys.isEmpty else { return }
            problems.append("audit: \(problem): \(keys.count), such as \(keys.sorted().prefix(Self.maxNamed))")
        }

        var counts: [String: [String: Int]] = [:]
        for entry in log.entries where entry.object.kind == "message" {
            counts[entry.action, default: [:]][entry.object.id, default: 0] += 1
        }
        func keys(_ action: String) -> Set<String> { Set((counts[action] ?? [:]).keys) }
        for (action, keys) in counts where action != "message.retry" {
            check(keys.filter { $0.value > 1 }.map(\.key), "messages with two entries of \(action)")
        }
        check(Set(accepted).union(archive.keys).subtracting(keys("message.send")), "messages without an entry")
        check(keys("message.send").subtracting(archive.keys), "entries without a message")
        let recalled = Set(archive.filter { $0.value == "recalled" }.map(\.key))
        check(recalled.symmetricDifference(keys("message.recall")), "recalls without an entry, or entries without a recall")
        for action in ["message.approve", "message.retry"] {
            let done = interventions.filter { $0.action == action }.map(\.msiKey)
            check(Set(done).subtracting(keys(action)), "\(action) without an entry")
        }
        check(keys("audit.substitute"), "entries that were refused")
        let wrong = log.entries.filter { entry in
            ["message", "channel"].contains(entry.object.kind)
                && (entry.actor != Self.author(of: entry) || entry.address != Self.address)
        }
        check(wrong.map(\.object.id), "entries with a wrong author or address")
        self.problems = problems
        entries = counts.values.reduce(0) { $0 + $1.values.reduce(0, +) }
    }

    /// Who does what the entry is about: a second person approves what the operator's token has posted.
    private static func author(of entry: AuditEntry) -> String {
        entry.action == "message.approve" ? Communicator.account : TestOperator.account
    }
}

/// The audit log at the end of a run.
struct AuditEvidence: Sendable {
    var entries: [AuditEntry] = []
    /// What the verification of its chain found.
    var fault: String?
    /// What `msi audit verify` printed, if it did not accept the log.
    var refusal: String?
}
