import Schemas
import TestSupport
import Testing

@testable import Chaos

/// The check of the audit log at the end of a chaos run, on logs made by the tests.
@Suite("The verdict about the audit log")
struct AuditVerdictTests {
    private static func entry(_ action: String, _ msiKey: String) -> AuditEntry {
        let author = AuditAuthor(actor: action == "message.approve" ? "ben" : "admin", address: "127.0.0.1")
        return AuditEntry(by: author, action: action, object: AuditObject(kind: "message", id: msiKey))
    }

    /// A run with a relayed message `m`, an approved one `a` and a recalled one `r`.
    private static func problems(
        fault: String? = nil, refusal: String? = nil, _ change: (inout [AuditEntry]) -> Void = { _ in }
    ) -> [String] {
        var entries = ["m", "a", "r"].map { entry("message.send", $0) }
        entries += [entry("message.approve", "a"), entry("message.recall", "r")]
        // Something else.
        entries.append(AuditEntry(by: .program, action: "account.add", object: AuditObject(kind: "account", id: "ann")))
        change(&entries)
        return AuditVerdict(
            AuditEvidence(entries: entries, fault: fault, refusal: refusal), accepted: ["m", "a", "r"],
            archive: ["m": "relayed", "a": "relayed", "r": "recalled"],
            interventions: [.init(action: "message.approve", msiKey: "a"), .init(action: "message.recall", msiKey: "r")]
        ).problems
    }

    @Test("A log with an entry for everything is right")
    func right() {
        #expect(Self.problems().isEmpty)
        #expect(Self.problems { $0.append(Self.entry("message.retry", "m")) }.isEmpty)
    }

    @Test("A missing entry, a second one, and one without a message or a recall are named")
    func wrong() {
        for index in 0..<5 {
            #expect(Self.problems { $0.remove(at: index) }.count == 1)
            #expect(Self.problems { $0.append(Self.entry($0[index].action, $0[index].object.id)) }.count == 1)
        }
        #expect(Self.problems { $0.append(Self.entry("message.send", "x")) }.first?.contains("\"x\"") == true)
        #expect(Self.problems { $0.append(Self.entry("message.recall", "m")) }.count == 1)
        #expect(Self.problems { $0.append(Self.entry("audit.substitute", "m")) }.count == 1)
    }

    @Test("A broken chain is a problem")
    func broken() {
        #expect(Self.problems(fault: "entry 3 was changed") == ["the audit log is broken: entry 3 was changed"])
        #expect(Self.problems(refusal: "entry 3 was changed") == ["msi audit verify refuses the audit log: entry 3 was changed"])
    }

    @Test("An entry of another author, or without an address, is a problem")
    func authors() {
        for author in [AuditAuthor(actor: "ben", address: "127.0.0.1"), AuditAuthor(actor: "admin"), .program] {
            let problems = Self.problems { entries in
                entries[0] = AuditEntry(by: author, action: "message.send", object: AuditObject(kind: "message", id: "m"))
            }
            #expect(problems.count == 1 && problems.first?.contains("author") == true)
        }
    }
}
