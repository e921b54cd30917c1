import Base
import Testing

@testable import LoadTester

@Suite("The phones of a load")
struct PhoneReportTests {
    /// The output of a fleet of three phones.
    private func output(doubled: Int = 0, missing: Int = 0, received: [String: Int] = ["a": 3, "b": 3]) -> FleetOutput {
        let output = FleetOutput()
        output.take(#"{"level":"info","message":"ready","service":"msi-phone"}"#)
        for key in ["a", "b"] { output.take(#"{"message":"every phone has it","msi_key":"\#(key)","ms":"12"}"#) }
        for (key, phones) in received { output.take(#"{"message":"received","msi_key":"\#(key)","phones":"\#(phones)"}"#) }
        output.take(
            #"{"phones":3,"expected":6,"delivered":\#(6 - missing),"doubled":\#(doubled),"missing":\#(missing),"#
                + #""p50_ms":38,"p99_ms":120,"max_ms":131}"#)
        output.end()
        return output
    }

    @Test("The report is the fleet's last line")
    func report() throws {
        let output = output()
        #expect(output.isReady && output.hasEnded)
        #expect(output.complete(of: ["a", "c"]) == 1)
        let report = try #require(output.report(accepted: ["a", "b"]))
        #expect(report.phones == 3 && report.expected == 6 && report.delivered == 6)
        #expect(report.p50 == 38 && report.p99 == 120 && report.longest == 131)
        #expect(report.isComplete)
    }

    @Test("A missing message, a doubled one, or an accepted one that not every phone has is a failure")
    func failures() throws {
        #expect(try #require(output(doubled: 1).report(accepted: ["a", "b"])).isComplete == false)
        #expect(try #require(output(missing: 1).report(accepted: ["a", "b"])).isComplete == false)
        // The hub does not tell of them.
        let absent = try #require(output(received: ["a": 3, "b": 2]).report(accepted: ["a", "b", "c"]))
        #expect(absent.incomplete == 2 && !absent.isComplete)
    }

    @Test("A fleet that ends without a report has none")
    func noReport() {
        let output = FleetOutput()
        output.take("msi-phone: phone.fleet.count: 5000 phones need 5512 open files")
        output.end()
        #expect(output.report(accepted: []) == nil && output.tail.contains("5512 open files"))
    }
}
