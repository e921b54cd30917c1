import FoundationEssentials
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

    @Test("text is one line for a reader, and nothing in it moves the cursor")
    func text() {
        #expect(
            line(TextLogLine.self)
                == #"2025-11-21T08:00:00.125Z warning msi-cube: no "answer"\u{1b}[31m error="it broke\u{a}in two" msi_key=0123456789abcdef01234567"#
        )
    }

    @Test("JSON is one object a line, with the fields beside time, level, service and message")
    func json() throws {
        let text = line(JSONLogLine.self)
        #expect(!text.contains("\n"))
        let object = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        #expect(object["time"] == "2025-11-21T08:00:00.125Z")
        #expect(object["level"] == "warning")
        #expect(object["service"] == "msi-cube")
        #expect(object["msi_key"] == "0123456789abcdef01234567")
    }

    @Test("a text without end is cut")
    func long() {
        let text = JSONLogLine(
            time: Date(), level: .info, service: "s", message: String(repeating: "x", count: 1_000_000), fields: []
        ).text
        #expect(text.utf8.count < 1_200)
    }
}
