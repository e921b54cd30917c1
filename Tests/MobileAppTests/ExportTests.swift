import FoundationEssentials
import JSON
import MobileApp
import Testing

@Suite("Messages outside of the app", .timeLimit(.minutes(10)))
struct ExportTests {
    private let storm = StoredMessage(
        msiKey: "k1", topicKey: "t", dist: "Alert", title: "Storm, again; \\ careful", desc: "Stay at home",
        message: "All lectures\nof today are cancelled.", timestamp: 1_795_521_600_000)

    @Test("A text names the subject and the time, and leaves out what is empty")
    func text() throws {
        var hours = storm
        hours.desc = ""
        let file = try MessageExport.text.file(
            of: [storm, hours], names: { _ in ["Campus", "Weather", "Storms"] }, time: { "at \($0)" })
        #expect(
            String(decoding: file, as: UTF8.self) == """
                Storm, again; \\ careful
                Alert · Campus › Weather › Storms · at 1795521600000

                Stay at home
                All lectures
                of today are cancelled.


                Storm, again; \\ careful
                Alert · Campus › Weather › Storms · at 1795521600000

                All lectures
                of today are cancelled.

                """)
    }

    @Test("JSON has the seed's fields")
    func json() throws {
        let file = try MessageExport.json.file(of: [storm], names: { _ in [] }, time: { _ in "" })
        let document = try #require(try JSONValue(parsing: file).elements?.first)
        #expect(document["timestamp"] == 1_795_521_600_000 && document["dist"] == "Alert")
        #expect(
            document.members?.map(\.name).sorted() == ["desc", "dist", "message", "msi_key", "timestamp", "title", "topic_key"])
    }

    @Test("A calendar's file follows RFC 5545: UTC, escapes, and lines of at most 75 bytes")
    func calendar() throws {
        var long = storm
        long.message = String(repeating: "ä", count: 200)
        let file = CalendarEntry(long, names: ["Campus", "Weather", "Storms"], start: 1_798_761_599_000, minutes: 90)
            .file(now: storm.timestamp)
        let lines = file.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.utf8.count <= 75 })
        #expect(lines.last == "" && lines.first == "BEGIN:VCALENDAR")
        let unfolded = file.split(separator: "\r\n ").joined().split(separator: "\r\n").map(String.init)
        #expect(unfolded.contains("DTSTART:20261231T235959Z") && unfolded.contains("DTEND:20270101T012959Z"))
        #expect(unfolded.contains("DTSTAMP:20261124T120000Z"))
        #expect(unfolded.contains(#"SUMMARY:Storm\, again\; \\ careful"#))
        #expect(unfolded.contains(#"DESCRIPTION:Campus › Weather › Storms\n\nStay at home\n\n"# + long.message))
    }

    @Test("A calendar's file has four-digit years, whatever was asked for", arguments: [Int64.min, .max])
    func calendarRange(start: Int64) {
        let file = CalendarEntry(storm, names: [], start: start, minutes: .max).file(now: start)
        let times = file.split(separator: "\r\n").filter { $0.hasPrefix("DT") }
        #expect(times.count == 3 && times.allSatisfy { $0.wholeMatch(of: /DT[A-Z]+:[0-9]{8}T[0-9]{6}Z/) != nil })
    }

    @Test("A text cannot add lines to the calendar")
    func injection() {
        var evil = storm
        evil = StoredMessage(
            msiKey: "k", topicKey: "t", dist: "Alert", title: "A\r\nEND:VEVENT\u{7F}", desc: "", message: "B\rX\u{0}",
            timestamp: 0)
        let file = CalendarEntry(evil, names: [], start: 0).file(now: 0)
        #expect(file.contains(#"SUMMARY:A\nEND:VEVENT"#) && file.contains("DESCRIPTION:BX\r\n"))
        #expect(file.split(separator: "\r\n").count(where: { $0 == "END:VEVENT" }) == 1)
    }
}
