import FoundationEssentials
import Base
import Logging
import Schemas
import Testing

@testable import ServiceKit

@Suite("Log lines")
struct LogLineTests {
    private static let fields = [("error", "it broke\nin two"), ("msi_key", "0123456789abcdef01234567")]

    private func line(_ type: any LogLine.Type) -> String {
        text(type, "no \"answer\"\u{1B}[31m", Self.fields)
    }

    private func text(
        _ type: any LogLine.Type, _ message: String, _ fields: [LogEntry.Field] = [],
        at time: UnixMilliseconds = 1_763_712_000_125
    ) -> String {
        let entry = LogEntry(
            time: time, level: .warning, service: "msi-cube", message: message, fields: fields, file: #fileID, line: #line,
            function: #function)
        var line = JSONBytes(capacity: 16)
        type.append(entry, to: &line)
        return String(decoding: line.bytes, as: UTF8.self)
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

    @Test("JSON lines are what the product's coder writes, and an event cannot change the fixed fields")
    func jsonForm() throws {
        let names = ["a", "level", "levels", "message", "n", "service", "t", "time", "trace_id", "ä", "\"\n"]
        let texts = ["", "plain", "\"\\/\t\r\u{7}\u{7F}", "é 👩‍🎓", "line\u{2028}two"]
        for text in texts {
            let line = self.text(JSONLogLine.self, text, names.sorted().map { ($0, text) })
            let object = try JSONCoder.decode([String: String].self, from: Data(line.utf8))
            #expect(Data(line.utf8) == (try JSONCoder.encode(object)))
            #expect(object.count == names.count && object["level"] == "warning" && object["service"] == "msi-cube")
            #expect(object["time"] == "2025-11-21T08:00:00.125Z" && object["message"] == object["trace_id"])
        }
    }

    @Test("The time has the form that the system's formatter gives it, over four centuries and at the ends of days")
    func time() throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        func expectSame(_ time: UnixMilliseconds) {
            // Half a millisecond more, because the style cuts what is below one.
            let date = Date(timeIntervalSince1970: (Double(time.rawValue) + 0.5) / 1_000)
            let line = text(JSONLogLine.self, "m", at: time)
            #expect(line.hasSuffix("\"time\":\"\(date.formatted(style))\"}"), "\(line)")
        }
        let day: Int64 = 86_400_000
        // The time of the day changes as well.
        for time in stride(from: 0, to: 146_100 * day, by: 5 * Int(day) + 3_723_457) {
            expectSame(UnixMilliseconds(rawValue: time))
        }
        for year in [1972, 1999, 2000, 2024, 2026, 2100, 2400, 9999] {
            for date in ["01-01", "02-28", "03-01", "12-31"] {
                let begin = try Date("\(year)-\(date)T00:00:00Z", strategy: Date.ISO8601FormatStyle()).unixMilliseconds
                for moment in [begin - 1, begin, begin + Milliseconds(rawValue: day - 1)] { expectSame(moment) }
            }
        }
        expectSame(0)
        expectSame(maximumUnixMilliseconds)
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
            let text = text(type, "a\(scalar)b", [("key", "c\(scalar)d"), ("name", "e \(scalar)")])
            #expect(!text.unicodeScalars.contains(scalar))
            // JSON escapes the backslash once more.
            let count = text.split(separator: escaped, omittingEmptySubsequences: false).count - 1
            #expect(count == 3, "\(text)")
        }
    }

    @Test("Joined letters, and signs of several characters, are not escaped")
    func harmless() {
        let message = "می\u{200C}خواهم 👩\u{200D}🎓 مرحبا"
        #expect(text(TextLogLine.self, message).hasSuffix(message))
    }

    @Test("A quote with a combining character does not end a value")
    func combinedQuote() {
        let line = text(TextLogLine.self, "m", [("error", "a\"\u{301} level=error")])
        #expect(line.utf8.suffix(20).elementsEqual("=\"a\\\"\u{301} level=error\"".utf8))
    }

    @Test("A value that is one word has no quotes, and every other one has")
    func quotes() {
        for (value, written) in [
            ("a.b/c:1-2_3", "a.b/c:1-2_3"), ("", "\"\""), ("a b", "\"a b\""), ("a=b", "\"a=b\""), ("a\\b", #""a\\b""#),
            ("a\"b", #""a\"b""#), ("é", "é"),
        ] {
            #expect(text(TextLogLine.self, "m", [("key", value)]).hasSuffix(" msi-cube: m key=\(written)"), "\(value)")
        }
    }

    @Test("A very long text is cut")
    func long() {
        #expect(text(JSONLogLine.self, String(repeating: "x", count: 1_000_000)).utf8.count < 1_200)
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
