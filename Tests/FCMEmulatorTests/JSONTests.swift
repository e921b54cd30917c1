import Base
import Testing
import TestSupport

@testable import FCMEmulator

@Suite("JSON as Google's APIs read it")
struct JSONTests {
    @Test("Of repeated fields the last one counts, and numbers may be of any size")
    func leniency() throws {
        let value = try JSONValue(requestBody: #"{"a":1,"b":{"c":1e999},"a":2}"#.utf8)
        #expect(value["a"] == 2)
        #expect(value["b"]?["c"] == .number("1e999"))
        #expect(throws: Never.self) { try JSONValue(requestBody: Array(repeating: UInt8(ascii: "["), count: 100) + closing(100)) }
    }

    @Test(
        "A text that is not JSON is refused in Google's words, with a mark below the place",
        arguments: [
            ("", "Unexpected end of string. Expected a value.", 0), (" ", "Unexpected end of string. Expected a value.", 1),
            ("{", "Expected an object key or }.", 1), ("[1,]", "Expected a value.", 3),
            (#"{"a":1,}"#, "Expected an object key or }.", 7), ("{a:1}", "Expected an object key or }.", 1),
            (#"{"a" 1}"#, "Expected : between key:value pair.", 5), (#"{"a":1 2}"#, "Expected , or } after key:value pair.", 7),
            ("[1 2]", "Expected , or ] after array value.", 3), ("{}{}", "Expected end of string.", 2),
            ("01", "Octal/hex numbers are not valid JSON values.", 2), ("1.", "Unable to parse number.", 2),
            ("1e", "Unable to parse number.", 2), ("-", "Expected a value.", 0), ("tru", "Expected a value.", 0),
            ("'a'", "Expected a value.", 0), ("NaN", "Expected a value.", 0), ("\u{FEFF}{}", "Expected a value.", 0),
            ("\"", "Closing quote expected in string.", 1), ("\"\n\"", "Invalid control character in string.", 1),
            (#""\x""#, "Invalid escape sequence.", 1), (#""\u+123""#, "Illegal hex string.", 1),
            (#""\ud800x""#, "Invalid unicode code point.", 1), (#""\ude00""#, "Invalid unicode code point.", 1),
            (String(repeating: "[", count: 101), "Message too deep. Max recursion depth reached.", 100),
        ])
    func whatIsNotJSONIsRefused(text: String, problem: String, offset: Int) {
        let error = #expect(throws: GoogleError.self) { try JSONValue(requestBody: text.utf8) }
        #expect(error?.status == "INVALID_ARGUMENT")
        let lines = error?.message.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        #expect(lines.first == "Invalid JSON payload received. \(problem)")
        #expect(lines.last?.count == min(offset, 20) + 1)
    }

    private func closing(_ count: Int) -> [UInt8] { Array(repeating: UInt8(ascii: "]"), count: count) }
}
