import JSON
import Schemas
import Testing

@testable import Gateway

/// The lines of an exported audit log.
@Suite("CSV")
struct CSVLineTests {
    @Test(
        "A cell is quoted where RFC 4180 requires it, and no cell is a formula",
        arguments: [
            ("plain", "plain"), ("", ""), ("a,b", #""a,b""#), (#"say "x""#, #""say ""x""""#), ("two\nlines", "\"two\nlines\""),
            ("=1+1", #""'=1+1""#), ("+49", #""'+49""#), ("-2", #""'-2""#), ("@SUM(A1)", #""'@SUM(A1)""#), ("\t=1", "\"'\t=1\""),
            ("=\"x\"", #""'=""x""""#), ("a=b", "a=b"), ("مرحبا", "مرحبا"),
        ])
    func cells(text: String, cell: String) {
        #expect(CSVLine([text, "z"]).text == cell + ",z\r\n")
    }

    @Test("An entry has as many cells as the header, and its time is readable")
    func entry() {
        let entry = AuditEntry(
            at: 1_763_712_000_123, by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"), after: ["n": 1])
        let line = CSVLine(NumberedAuditEntry(number: 7, hash: "h", entry: entry))
        #expect(line.text == "7,2025-11-21T08:00:00.123Z,,,a.b,k,i,,\"{\"\"n\"\":1}\",\(entry.id),h\r\n")
        #expect(CSVLine.auditHeader.text.split(separator: ",").count == 11)
    }
}
