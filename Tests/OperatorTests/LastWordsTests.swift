import Testing

@testable import Operator

/// Why a run of a unit has ended, by its lines in the journal.
@Suite("Last words in the journal")
struct LastWordsTests {
    private static func entry(_ message: String, priority: Int, transport: String = "journal") -> String {
        #"{"__REALTIME_TIMESTAMP":"1795680000000000","PRIORITY":"\#(priority)","SYSLOG_IDENTIFIER":"msi-cube","#
            + #""_TRANSPORT":"\#(transport)","MESSAGE":"\#(message)"}"#
    }

    @Test(
        "The newest error counts, even one that was only written to standard error; without an error the newest line",
        arguments: [
            ([entry("full", priority: 3), entry("stopping", priority: 6)], "full"),
            (
                [entry("full", priority: 3), entry("MSI_X: expected a port", priority: 6, transport: "stdout")],
                "MSI_X: expected a port"
            ),
            ([entry("ready", priority: 6), entry("stopping", priority: 6)], "stopping"),
            (
                [
                    entry("2026-11-21T10:00:01.000Z error msi-cube: full", priority: 6, transport: "stdout"),
                    entry("2026-11-21T10:00:01.000Z info msi-cube: stopped", priority: 6, transport: "stdout"),
                ], "full"
            ), ([], nil),
        ] as [([String], String?)])
    func lastWords(lines: [String], words: String?) {
        #expect(Journal.lastWords(in: lines) == words)
    }

    @Test("After a signal only the text of a crash counts")
    func crash() {
        let logged = [Self.entry("full", priority: 3), Self.entry("ready", priority: 6)]
        #expect(Journal.lastWords(in: logged, bySignal: true) == nil)
        let crash = Self.entry("A.swift:1: Fatal error: x", priority: 6, transport: "stdout")
        #expect(Journal.lastWords(in: [crash] + logged, bySignal: true) == "A.swift:1: Fatal error: x")
    }
}
