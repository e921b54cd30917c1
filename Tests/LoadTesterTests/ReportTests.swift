import ArgumentParser
import Foundation
import Histogram
import Base
import Schemas
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@testable import LoadTester

@Suite("Load report")
struct ReportTests {
    private func report(_ arguments: [String] = ["--rate", "100"], messages: Int = 1_000) throws -> LoadReport {
        let recorder = LoadRecorder()
        for number in 1...messages {
            recorder.began(delay: 0.002)
            recorder.ended(number == 5 ? ["fcm <&>"] : nil, latency: Double(number) / 1_000, at: 12.5, counts: true)
        }
        _ = recorder.endInterval(at: 1)
        return LoadReport("relay", try LoadOptions.parse(arguments), recorder.totals, seconds: 10, bottlenecks: [.ramp: 9])
    }

    @Test("Percentiles, counts and throughput are those of the recorded messages")
    func figures() throws {
        let report = try report()
        #expect(report.sent == 1_000 && report.accepted == 999 && report.failed == 1)
        // To the last answer, not to the last message.
        #expect(report.throughput == 999 / 12.5 && report.lastAnswer == 12.5)
        #expect(report.shareOfRate.map { abs($0 - 0.7992) < 1e-9 } == true)
        #expect(abs(report.latency.p50 - 500) < 2 && abs(report.latency.p99 - 990) < 2)
        #expect(abs(report.latency.longest - 1_000) < 2)
        #expect(report.testerDelay == 2)
        let table = "\(ReportTable(report: report))"
        #expect(table.contains("1000 sent, 999 accepted, 1 failed") && table.contains("1 × fcm <&>"))
        #expect(table.contains("79.9 accepted messages/s over 12.5 s, to the last answer (79.9 % of what was asked for)"))
    }

    @Test("The JSON has every figure by name")
    func json() throws {
        let json = try #require(
            try JSONSerialization.jsonObject(with: try JSONCoder.encode(try report())) as? [String: Any])
        #expect(json["accepted"] as? Int == 999)
        #expect((json["latency"] as? [String: Any])?["count"] as? Int == 1_000)
        #expect((json["errors"] as? [String: Int]) == ["fcm <&>": 1])
        #expect((json["intervals"] as? [Any])?.count == 1)
        #expect(json["heldBack"] as? [String: Int] == ["ramp": 9])
    }

    @Test("The plot is well-formed, even for a load without an answer", arguments: [true, false])
    func plot(isEmpty: Bool) throws {
        let empty = LoadReport("gateway", try LoadOptions.parse([]), LoadRecorder.Totals(), seconds: 0)
        let plot = "\(LatencyPlot(figures: PlotFigures(isEmpty ? empty : try report())))"
        #expect(XMLParser(data: Data(plot.utf8)).parse(), "\(plot)")
        #expect(!plot.contains("nan") && !plot.contains("inf"))
    }

    @Test("The report names what limited the load, with the setting for it")
    func remarks() throws {
        let remarks = try report().remarks
        #expect(remarks.first == "by the relay's ramp to its full rate (MSI_FCM_RAMP), in 9 of 13 s")
        #expect(remarks.contains("the last answer came 2.5 s after the last message was due"))
        #expect("\(ReportTable(report: try report()))".contains("MSI_FCM_RAMP"))
        #expect(RelayLoad.helpMessage().contains("MSI_FCM_RAMP"))
        var totals = LoadRecorder.Totals()
        (totals.sent, totals.accepted, totals.lastAnswer) = (1_000, 1_000, 10.1)
        #expect(LoadReport("relay", try LoadOptions.parse(["--rate", "100"]), totals, seconds: 10).remarks.isEmpty)
    }

    @Test("A plot shows as many nines of the percentile as its messages can distinguish")
    func percentiles() throws {
        let few = try report(messages: 50).distribution
        #expect(few.first?.percentile == 0 && few.last?.percentile == 99 && few.contains { $0.percentile == 50 })
        var totals = LoadRecorder.Totals()
        for latency in 1...10 { totals.latencies.record(UInt64(latency) * 1_000, count: 2_000) }
        let large = LoadReport("relay", try LoadOptions.parse(["--rate", "100"]), totals, seconds: 200)
        let many = large.distribution
        #expect(many.last?.percentile == 99.999 && many.contains { $0.percentile == 99.9 })
        #expect(many.map(\.percentile) == many.map(\.percentile).sorted())
        let plot = "\(LatencyPlot(figures: PlotFigures(large)))"
        for name in ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "target 100/s"] {
            #expect(plot.contains(">\(name)</text>"), "\(name)")
        }
    }

    @Test("An invalid load, or one to another machine, is refused")
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

    @Test("The same seed gives the same messages, in the configured mix")
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
