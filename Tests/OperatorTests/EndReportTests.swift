import FoundationEssentials
import TestSupport
import Testing

@testable import Operator

/// What `msi up` says about a service that ends.
@Suite("Ends of services")
struct EndReportTests {
    @Test("From the second end in a row on the line has the reason; a repeated reason is said once, and a good run forgets it")
    func lines() {
        var report = EndReport(name: "msi-cube")
        func line(_ seconds: Int, _ reason: String?) -> String {
            report.line(
                "exited with status 1", afterRunOf: .seconds(seconds), delay: .milliseconds(200), reason: reason)
        }
        let plain = "msi-cube exited with status 1; starting it again in 0.2 s"
        #expect(line(1, "the disk is full") == plain)
        #expect(line(1, "the disk is full") == "\(plain). Its log: the disk is full")
        #expect(line(1, "the disk is full") == "\(plain) (for the same reason as before)")
        #expect(line(1, "another one") == "\(plain). Its log: another one")
        #expect(line(1, nil) == "\(plain). Its log has no line about it")
        #expect(line(60, "another one") == plain)
        #expect(line(1, "another one") == "\(plain). Its log: another one")
    }

    private static let older = #"{"time":"2026-11-21T10:00:00.000Z","level":"error","service":"msi-cube","message":"of before"}"#
    private static let info = #"{"time":"2026-11-21T10:00:02.000Z","level":"info","service":"msi-cube","message":"stopped"}"#
    private static let warning = #"{"time":"2026-11-21T10:00:01.000Z","level":"warning","service":"msi-cube","message":"slow"}"#
    private static let error =
        #"{"time":"2026-11-21T10:00:01.000Z","level":"error","service":"msi-cube","message":"full","error":"no\nspace\u001b[2J"}"#

    @Test(
        "The reason is the last error or crash of that run, else the last warning, else the last line, and fits on a line",
        arguments: [
            ([], nil), ([info], "stopped"), ([warning, info], "slow"), ([error, warning, info], "full error=no space[2J"),
            (["2026-11-21T10:00:01.000Z critical msi-cube: stopped by an error", info], "stopped by an error"),
            ([warning, "msi-cube: MSI_PORT: expected a port", ""], "MSI_PORT: expected a port"),
            ([warning, "A/B.swift:1: Fatal error: \u{1b}[2Jx"], "A/B.swift:1: Fatal error: [2Jx"),
            ([String(repeating: "x", count: 9_000)], String(repeating: "x", count: 500) + "…"),
        ] as [([String], String?)])
    func reason(lines: [String], reason: String?) async throws {
        try await withTemporaryFolder { folder in
            let log = try LogFile(directory: folder, name: "msi-cube")
            try Data((Self.older + "\n").utf8).write(to: URL(filePath: log.path))
            let size = log.size
            let all = [Self.older] + lines
            try Data((all.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: log.path))
            #expect(log.ending(after: size, bySignal: false) == reason)
        }
    }

    @Test(
        "After a signal only a crash's own text is the reason: the process could not log one",
        arguments: [
            ([info], nil), ([error, info], nil), ([warning], nil), ([], nil),
            ([error, "A/B.swift:1: Fatal error: x", info], "A/B.swift:1: Fatal error: x"),
        ] as [([String], String?)])
    func crash(lines: [String], reason: String?) async throws {
        try await withTemporaryFolder { folder in
            let log = try LogFile(directory: folder, name: "msi-cube")
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: log.path))
            #expect(log.ending(after: 0, bySignal: true) == reason)
        }
    }
}
