import Testing

@testable import FCMEmulator

@Suite("The emulator's JSON")
struct JSONTests {
    @Test("The order of members and the digits of numbers are kept")
    func orderAndDigitsAreKept() throws {
        let text = #"{"z":1.50,"a":[true,false,null,-0,12e+3],"":"\"\\/\b\f\n\r\t\u0001é😀"}"#
        let value = try JSONParser.parse(Array(text.utf8))
        #expect(value.members?.map(\.name) == ["z", "a", ""])
        #expect(value["z"] == .number("1.50"))
        #expect(value.text == #"{"z":1.50,"a":[true,false,null,-0,12e+3],"":"\"\\/\u0008\u000c\n\r\t\u0001é😀"}"#)
    }

    @Test("Escapes are read as the characters that they stand for")
    func escapesBecomeCharacters() throws {
        #expect(try JSONParser.parse(Array(#""\u00e9\ud83d\ude00\u0000""#.utf8)) == .string("é😀\u{0}"))
    }

    @Test(
        "Invalid JSON is refused",
        arguments: [
            "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", "-", "1e", "tru", "\"", "\"\\x\"", "\"\\ud800x\"",
            "\"\\ude00\"",
            "\"\\u+123\"", "\"\n\"", "[1 2]", "{}{}", "'a'", "\u{FEFF}{}", "NaN",
        ])
    func whatIsNotJSONIsRefused(_ text: String) {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(text.utf8)) }
    }
}
