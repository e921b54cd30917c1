import ArgumentParser
import Foundation
import Schemas
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@testable import LoadTester

/// What an operator is shown of a load.
@Suite("Load report")
struct ReportTests {
    private func report(_ arguments: [String] = ["--rate", "100"], messages: Int = 1_000) throws -> LoadReport {
        let recorder = LoadRecorder()
        for number in 1...messages {
            recorder.began(delay: 0.002)
            recorder.ended(number == 5 ? ["fcm <&>"] : nil, latency: Double(number) / 1_000, counts: true)
        }
        _ = recorder.endInterval(at: 1)
        return LoadReport("relay", try LoadOptions.parse(arguments), recorder.totals, seconds: 10)
    }

    @Test("percentiles, counts and throughput are those of what was recorded")
    func figures() throws {
        let report = try report()
        #expect(report.sent == 1_000 && report.accepted == 999 && report.failed == 1)
        #expect(report.throughput == 99.9)
        #expect(abs(report.latency.p50 - 500) < 2 && abs(report.latency.p99 - 990) < 2)
        #expect(abs(report.latency.longest - 1_000) < 2)
        #expect(report.testerDelay == 2)
        let table = "\(ReportTable(report: report))"
        #expect(table.contains("1000 sent, 999 accepted, 1 failed") && table.contains("1 × fcm <&>"))
    }

    @Test("the JSON has every figure by name")
    func json() throws {
        let json = try #require(
            try JSONSerialization.jsonObject(with: try SchemaJSON.encode(try report())) as? [String: Any])
        #expect(json["accepted"] as? Int == 999)
        #expect((json["latency"] as? [String: Any])?["count"] as? Int == 1_000)
        #expect((json["errors"] as? [String: Int]) == ["fcm <&>": 1])
        #expect((json["intervals"] as? [Any])?.count == 1)
    }

    @Test("the plot is well-formed, also for a load that was never answered", arguments: [true, false])
    func plot(isEmpty: Bool) throws {
        let empty = LoadReport("gateway", try LoadOptions.parse([]), LoadRecorder.Totals(), seconds: 0)
        let plot = "\(LatencyPlot(report: isEmpty ? empty : try report()))"
        #expect(XMLParser(data: Data(plot.utf8)).parse(), "\(plot)")
        #expect(!plot.contains("nan") && !plot.contains("inf"))
    }

    @Test("a load is refused that makes no sense, or goes elsewhere")
    func refusals() throws {
        for arguments in [
            ["--rate", "0"], ["--duration", "-1"], ["--ramp", "5"], ["--rate", "5", "--ramp", "11"], ["--in-flight", "0"],
            ["--alerts", "101"], ["--topics", "0"], ["--text", "0"], ["--text", "9-8"], ["--text", "1-1501"], ["--text", "x"],
        ] {
            #expect(throws: (any Error).self, "\(arguments)") { _ = try LoadOptions.parse(arguments) }
        }
        for address in ["http://127.0.0.1:8080", "tcp://localhost:5", "ipc:///tmp/x", "http://[::1]:8080"] {
            try LoopbackRule.check(address, isRemoteAllowed: false)
        }
        for address in ["http://example.org", "tcp://10.0.0.1:5", "tcp://*:5", "http://127.0.0.1.example.org"] {
            #expect(throws: (any Error).self, "\(address)") { try LoopbackRule.check(address, isRemoteAllowed: false) }
            try LoopbackRule.check(address, isRemoteAllowed: true)
        }
        for address in ["nonsense", "", "tcp://", "127.0.0.1:5"] {
            for isRemoteAllowed in [false, true] {
                #expect(throws: (any Error).self, "\(address)") {
                    try LoopbackRule.check(address, isRemoteAllowed: isRemoteAllowed)
                }
            }
        }
    }

    @Test("the same seed gives the same messages, in the mix that was asked for")
    func mix() {
        let mix = MessageMix(topics: 5, alerts: 30, text: 10...40, seed: 7)
        let samples = (0..<2_000).map(mix.sample)
        let again = (0..<2_000).map(mix.sample)
        #expect(samples.map(\.text) == again.map(\.text) && samples.map(\.topic) == again.map(\.topic))
        #expect((500...700).contains(samples.count { $0.distribution == .alert }))
        #expect(Set(samples.map(\.topic)) == Set(0..<5))
        #expect(Set(samples.map(\.text.count)) == Set(10...40))
    }
}
