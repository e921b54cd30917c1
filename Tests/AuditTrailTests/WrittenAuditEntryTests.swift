import Base
import FoundationEssentials
import Schemas
import Testing

/// Entries that are forwarded and stored as the JSON that their service has written.
@Suite("Written audit entries")
struct WrittenAuditEntryTests {
    private static let ids = [ObjectID(), ObjectID()]

    private static let entries = [
        AuditEntry.sample("message.send", actor: "Ann", object: "Thing"),
        AuditEntry(by: .program, action: "a", object: AuditObject(kind: "k", id: "é \"quoted\"")),
        AuditEntry(
            by: AuditAuthor(actor: "محمد"), action: "a.b", object: AuditObject(kind: "k", id: "i"),
            after: ["é": [.null, true, [], [:], -1, .number("1e5")], "list": [["a": "\u{1F393}"]]]),
    ]

    /// An entry with an `after`.
    private static func json(after: String, id: ObjectID = ids[0]) -> String {
        #"{"action":"a","after":\#(after),"at":1,"id":"\#(id)","object":{"id":"i","kind":"k"}}"#
    }

    @Test("A command keeps the JSON of its entries, and what the log is searched by", arguments: entries)
    func command(entry: AuditEntry) throws {
        let written = try WrittenAuditEntry(entry)
        #expect(WrittenAuditEntry(json: written.json) == written)
        let read = try AddAuditEntries(payload: try AddAuditEntries([written, written]).payload())
        #expect(read.entries == [written, written])
        let one = try #require(read.entries.first)
        #expect((one.id, one.at, one.actor) == (entry.id, entry.at, entry.actor))
        #expect((one.action, one.object) == (entry.action, entry.object))
        #expect(try JSONCoder.decode(AuditEntry.self, from: Data(one.json.utf8)) == entry)
    }

    @Test(
        "A text that is no entry, or more than one, is damaged",
        arguments: [
            "", "5", "{", "{}", json(after: "{"), json(after: "tru"), json(after: #"{"a":1,"a":2}"#), json(after: #""\x""#),
            json(after: "[1") + "]", json(after: "1") + "," + json(after: "1", id: ids[1]), json(after: "01"),
            json(after: "1") + "]", json(after: #"1,"after":2"#),
        ])
    func damaged(json: String) {
        #expect(WrittenAuditEntry(json: json) == nil)
    }

    @Test("Text that is not UTF-8 is refused, wherever it is")
    func encoding() throws {
        for place in [Self.json(after: #""?""#), Self.json(after: "1").replacing(#""kind":"k""#, with: #""kind":"?""#)] {
            let payload = Data(#"{"entries":[\#(place)]}"#.utf8.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 })
            #expect(throws: SchemaViolation.self) { try AddAuditEntries(payload: payload) }
        }
    }

    @Test("An entry in another form is stored in the usual one")
    func otherForm() throws {
        let usual = Self.json(after: #"{"a":1,"b":2}"#)
        let spaced = try AddAuditEntries(payload: Data(#"{"entries":[\#(Self.json(after: #"{"b":2,"a":1}"#))]}"#.utf8))
        #expect(spaced.entries.map(\.json) == [usual])
    }

    @Test(
        "A rule that an entry breaks is named with its field",
        arguments: [
            (json(after: "1").replacing(#""at":1"#, with: #""at":-1"#), "entries[0].at"),
            (json(after: "1").replacing(#""kind":"k""#, with: #""kind":"""#), "entries[0].object.kind"),
            (json(after: "\"" + String(repeating: "x", count: AuditEntry.maxValueBytes) + "\""), "entries[0].after"),
        ])
    func rules(json: String, field: String) throws {
        let violation = try #require(throws: SchemaViolation.self) {
            try AddAuditEntries(payload: Data(#"{"entries":[\#(json)]}"#.utf8))
        }
        #expect(violation.field == field)
        let many = Array(repeating: Self.json(after: "1"), count: AddAuditEntries.maxEntries + 1).joined(separator: ",")
        let tooMany = try #require(throws: SchemaViolation.self) {
            try AddAuditEntries(payload: Data(#"{"entries":[\#(many)]}"#.utf8))
        }
        #expect(tooMany.field == "entries")
    }
}
