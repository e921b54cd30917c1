import FoundationEssentials
@testable import Base
import Testing

@testable import Schemas

/// Callers' documents must be JSON as PROTOCOL.md defines it. Other documents are refused with the reason.
@Suite("Strict JSON")
struct StrictJSONTests {
    private func violation(_ json: some Sequence<UInt8>) -> SchemaViolation? {
        do {
            _ = try JSONCoder.decode(Anything.self, from: Data(json))
            return nil
        } catch {
            return error as? SchemaViolation ?? SchemaViolation(field: "", problem: "\(error)")
        }
    }

    @Test(
        "A duplicate name is refused with the path of its field",
        arguments: [
            (#"{"a":1,"a":2}"#, "a"), (#"{"a":1,"b":2,"a":1}"#, "a"), (#"{"a":{"b":[0,{"c":1,"c":2}]}}"#, "a.b[1].c"),
            (#"{"a":1,"\u0061":2}"#, "a"), (#"{"\ud83c\udf93":1,"🎓":2}"#, "🎓"), (#"[{"":1,"":2}]"#, "[0]."),
            ("{" + (0..<100).map { "\"k\($0)\":0" }.joined(separator: ",") + #","k7":0}"#, "k7"),
        ])
    func duplicates(json: String, field: String) {
        #expect(violation(json.utf8) == SchemaViolation(field: field, problem: "there twice, expected at most once"))
    }

    @Test("Names that look the same and have other bytes are other names, in small and in large objects", arguments: [0, 100])
    func accents(others: Int) {
        let plain = (0..<others).map { "\"k\($0)\":0," }.joined()
        #expect(violation("{\(plain)\"\u{E9}\":1,\"e\u{301}\":2}".utf8) == nil)
        let twice = violation("{\(plain)\"\u{E9}\":1,\"e\u{301}\":2,\"\\u00e9\":3}".utf8)
        #expect(twice == SchemaViolation(field: "\u{E9}", problem: "there twice, expected at most once"))
    }

    @Test(
        "Invalid JSON is refused with what was expected, and where",
        arguments: [
            ("", "expected a value at the end of the text"), (" ", "expected a value at the end of the text"),
            ("{", "expected a field's name in double quotes at the end of the text"),
            (#"{"a":1,}"#, "expected a field's name in double quotes at byte 7"), ("[1,]", "expected a value at byte 3"),
            ("[,1]", "expected a value at byte 1"), (#"{"a" 1}"#, "expected a colon at byte 5"),
            ("[1 2]", "expected a comma or ] at byte 3"),
            (#"{"a":1 "b":2}"#, "expected a comma or } at byte 7"), ("{} x", "expected the end at byte 3"),
            ("{}{}", "expected the end at byte 2"),
            ("{'a':1}", "expected a field's name in double quotes at byte 1"), ("// a\n{}", "expected a value at byte 0"),
            ("[1]/**/", "expected the end at byte 3"), ("[tru]", "expected a value at byte 1"),
            ("[NaN]", "expected a value at byte 1"),
            ("[Infinity]", "expected a value at byte 1"), ("[01]", "expected a number without leading zeros at byte 3"),
            ("[+1]", "expected a value at byte 1"), ("[1.]", "expected a digit at byte 3"),
            ("[.5]", "expected a value at byte 1"),
            ("[1e]", "expected a digit at byte 3"), ("[0x1]", "expected a comma or ] at byte 2"),
            ("[-]", "expected a value at byte 1"),
            ("[1e999]", "expected a number that fits 64 bits at byte 6"),
            ("[0.5e-400]", "expected a number that fits 64 bits at byte 9"),
            (#"["a"#, "expected a double quote at the end of the text"),
            ("[\"a\nb\"]", "expected no control character in a text at byte 3"),
            (#"["\x"]"#, "expected an escape of JSON's at byte 2"),
            (#"["\u12g4"]"#, "expected four hexadecimal digits at byte 2"),
            (#"["\ud83c"]"#, "expected a surrogate pair at byte 2"), (#"["\udf93"]"#, "expected a surrogate pair at byte 2"),
            (#"["\ud83c\u0041"]"#, "expected a surrogate pair at byte 2"), ("\u{A0}{}", "expected a value at byte 0"),
        ])
    func malformed(json: String, problem: String) {
        #expect(violation(json.utf8) == SchemaViolation(field: "", problem: "not valid JSON: " + problem))
    }

    @Test("Encodings other than UTF-8, and byte order marks, are refused by name")
    func encodings() {
        let text = #"{"a":1}"#
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect(violation(mark + Array(text.utf8))?.problem == "not valid JSON: it begins with a byte order mark")
        let utf16 = "not valid JSON: expected UTF-8, found what looks like UTF-16 or UTF-32"
        for width in [2, 4] {
            let zeros = [UInt8](repeating: 0, count: width - 1)
            let littleEndian = text.utf8.flatMap { [$0] + zeros }
            let bigEndian = text.utf8.flatMap { zeros + [$0] }
            #expect(violation(littleEndian)?.problem == utf16)
            #expect(violation(bigEndian)?.problem == utf16)
            #expect(violation([0xFF, 0xFE] + zeros.dropFirst() + littleEndian)?.problem == utf16)
            #expect(violation([0xFE, 0xFF] + bigEndian)?.problem == utf16)
        }
        for bytes in PlainJSONTests.noUTF8 {
            #expect(violation(Array("[\"".utf8) + bytes + Array("\"]".utf8))?.problem == "not valid JSON: it is not UTF-8")
        }
    }

    @Test(
        "Unusual but valid JSON is accepted",
        arguments: [
            "{}", "[]", " \t\r\n{ \"a\" : [ ] } \n", "null", "\"a\"", "-0", "[0e999,0.0e-999,-0E5]",
            "[0.5e-3,1E+2,-1e3,1234567890123456789012345]",
            #"["\u0041\u00e9\ud83c\udf93\n\/\b"]"#, #"{"a":{"a":1},"b":{"a":1}}"#, #"[{"a":1},{"a":2}]"#, "[\"\u{2028}\u{7F}é\"]",
            String(repeating: "[", count: 512) + String(repeating: "]", count: 512), #"{"":0," ":1}"#,
        ])
    func unusual(json: String) {
        #expect(violation(json.utf8) == nil)
    }

    @Test(
        "A document of several lines is refused with the line and the character, counted from 1",
        arguments: [
            ("{\n  \"a\": 1,\n}", "expected a field's name in double quotes at byte 12 (line 3, column 1)"),
            ("[1,\r\n \"é🎓\", x]", "expected a value at byte 16 (line 2, column 8)"),
            ("[\n", "expected a value at the end of the text"),
        ])
    func lines(json: String, problem: String) {
        #expect(violation(json.utf8) == SchemaViolation(field: "", problem: "not valid JSON: " + problem))
    }
}
