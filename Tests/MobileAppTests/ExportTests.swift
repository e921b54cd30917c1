import FoundationEssentials
import MobileApp
import Testing

/// What the shared cases do not have: the words of the phone's language, and times that no page allows.
@Suite("Messages outside of the app", .timeLimit(.minutes(10)))
struct ExportTests {
    private let storm = StoredMessage(
        msiKey: "k1", topicKey: "t", dist: "Alert", title: "Sturm", desc: "", message: "", timestamp: 1_795_521_600_000,
        omitted: ["message"])

    @Test("A text has the words of the phone's language")
    func words() throws {
        let words = MessageExport.Words(alert: "Warnung", missing: "Der Rest fehlt.")
        let file = try MessageExport.text.file(of: [storm], words: words, names: { _ in ["Campus"] }, time: { "um \($0)" })
        #expect(String(decoding: file, as: UTF8.self) == "Sturm\nWarnung · Campus · um 1795521600000\n\n[Der Rest fehlt.]\n")
    }

    @Test("A calendar's file has four-digit years, whatever was asked for", arguments: [Int64.min, .max])
    func calendarRange(start: Int64) {
        let file = CalendarEntry(storm, names: [], start: start, minutes: .max).file(now: start)
        let times = file.split(separator: "\r\n").filter { $0.hasPrefix("DT") }
        #expect(times.count == 3 && times.allSatisfy { $0.wholeMatch(of: /DT[A-Z]+:[0-9]{8}T[0-9]{6}Z/) != nil })
    }
}
