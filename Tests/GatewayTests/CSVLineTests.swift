import CSV
import JSON
import Schemas
import Testing

@testable import Gateway

/// The lines of an exported audit log.
@Suite("The CSV of the audit log")
struct CSVLineTests {
    @Test("An entry has as many cells as the header, and its time is readable")
    func entry() {
        let entry = AuditEntry(
            at: 1_763_712_000_123, by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"), after: ["n": 1])
        let line = CSVLine(NumberedAuditEntry(number: 7, hash: "h", entry: entry))
        #expect(line.text == "7,2025-11-21T08:00:00.123Z,,,a.b,k,i,,\"{\"\"n\"\":1}\",\(entry.id),h\r\n")
        #expect(CSVLine.auditHeader.text.split(separator: ",").count == 11)
    }
}
