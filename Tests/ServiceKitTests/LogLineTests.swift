import FoundationEssentials
import JSON
import Logging
import Testing

@testable import ServiceKit

@Suite("Log lines")
struct LogLineTests {
    private static let fields = [("error", "it broke\nin two"), ("msi_key", "0123456789abcdef01234567")]

    private func line(_ type: any LogLine.Type) -> String {
        type.init(
            time: Date(timeIntervalSince1970: 1_763_712_000.125), level: .warning, service: "msi-cube",
            message: "no \"answer\"\u{1B}[31m", fields: Self.fields
        ).text
    }

    @Test("A text line stays one line, and nothing in it moves the cursor")
    func text() {
        #expect(
            line(TextLogLine.self)
                == #"2025-11-21T08:00:00.125Z warning msi-cube: no "answer"\u{1b}[31m error="it broke\u{a}in two" msi_key=0123456789abcdef01234567"#
        )
    }

    @Test("JSON logs have one object a line, with the fields beside time, level, service and message")
    func json() throws {
        let text = line(JSONLogLine.self)
        #expect(!text.contains("\n"))
        let object = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        #expect(object["time"] == "2025-11-21T08:00:00.125Z")
        #expect(object["level"] == "warning")
        #expect(object["service"] == "msi-cube")
        #expect(object["msi_key"] == "0123456789abcdef01234567")
    }

    @Test(
        "Characters that end a line or change the direction of text are escaped",
        arguments: [
            0x85, 0x9B, 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068,
            0x2069,
        ] as [UInt32])
    func direction(code: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(code))
        let escaped = "\\u{\(String(code, radix: 16))}"
        for type in [TextLogLine.self, JSONLogLine.self] as [any LogLine.Type] {
            let text = type.init(
                time: Date(), level: .info, service: "s", message: "a\(scalar)b",
                fields: [("key", "c\(scalar)d"), ("name", "e \(scalar)")]
            ).text
            #expect(!text.unicodeScalars.contains(scalar))
            // JSON escapes the backslash once more.
            let count = text.split(separator: escaped, omittingEmptySubsequences: false).count - 1
            #expect(count == 3, "\(text)")
        }
    }

    @Test("Joined letters, and signs of several characters, are not escaped")
    func harmless() {
        let message = "می\u{200C}خواهم 👩\u{200D}🎓 مرحبا"
        #expect(TextLogLine(time: Date(), level: .info, service: "s", message: message, fields: []).text.hasSuffix(message))
    }

    @Test("A quote with a combining character does not end a value")
    func combinedQuote() {
        let line = TextLogLine(
            time: Date(), level: .info, service: "s", message: "m", fields: [("error", "a\"\u{301} level=error")])
        #expect(line.text.utf8.suffix(20).elementsEqual("=\"a\\\"\u{301} level=error\"".utf8))
    }

    @Test("A very long text is cut")
    func long() {
        let text = JSONLogLine(
            time: Date(), level: .info, service: "s", message: String(repeating: "x", count: 1_000_000), fields: []
        ).text
        #expect(text.utf8.count < 1_200)
    }

    @Test("A text of others does not control a terminal, and JSON stays the same")
    func terminal() throws {
        #expect("a\u{1B}[2J\u{9B}1m\r\u{202E}b\u{2028}\n\tc".terminalText == #"a\u001b[2J\u009b1m\u000d\u202eb\u2028"# + "\n\tc")
        let message = "می\u{200C}خواهم 👩\u{200D}🎓 مرحبا"
        #expect(message.terminalText == message)
        let json = JSONValue.string("\u{202E}\u{9B}\u{7F}é").text
        #expect(json.terminalText.utf8.allSatisfy { $0 != 0x7F } && json.terminalText != json)
        #expect(try JSONValue(parsing: Data(json.terminalText.utf8)).text == json)
    }
}
