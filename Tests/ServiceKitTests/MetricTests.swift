import CoreMetrics
import Instruments
import Testing

@testable import ServiceKit

/// The text that Prometheus reads.
@Suite("Metrics")
struct MetricTests {
    private let registry = MetricRegistry()

    private var lines: [String] { MetricText(registry.all).text.split(separator: "\n").map(String.init) }

    @Test("A counter, with its meaning and its labels; a value in a label cannot end it")
    func counter() {
        registry.makeCounter(label: "msi_sign_ins_total", dimensions: [("way", "a\"b\\c\nd")]).increment(by: 2)
        #expect(
            lines == [
                "# HELP msi_sign_ins_total \(Instrument.signIns.help)", "# TYPE msi_sign_ins_total counter",
                #"msi_sign_ins_total{way="a\"b\\c\nd"} 2"#,
            ])
    }

    @Test("The same labels are the same series")
    func same() {
        for _ in 0..<3 { registry.makeCounter(label: "msi_sign_ins_total", dimensions: [("way", "password")]).increment(by: 1) }
        #expect(lines.last == #"msi_sign_ins_total{way="password"} 3"#)
    }

    @Test("A timer is a histogram in seconds, whose buckets contain the smaller ones")
    func histogram() {
        let timer = registry.makeTimer(label: "msi_fcm_send_duration_seconds", dimensions: [("project", "p")])
        for nanoseconds: Int64 in [400_000, 2_000_000, 20_000_000_000] { timer.recordNanoseconds(nanoseconds) }
        #expect(lines.contains(#"msi_fcm_send_duration_seconds_bucket{project="p",le="0.0005"} 1"#))
        #expect(lines.contains(#"msi_fcm_send_duration_seconds_bucket{project="p",le="10"} 2"#))
        #expect(lines.contains(#"msi_fcm_send_duration_seconds_bucket{project="p",le="+Inf"} 3"#))
        #expect(lines.contains(#"msi_fcm_send_duration_seconds_count{project="p"} 3"#))
        #expect(lines.contains { $0.hasPrefix(#"msi_fcm_send_duration_seconds_sum{project="p"} 20.0024"#) })
    }

    @Test("A gauge has its last value, with its fraction")
    func gauge() {
        let gauge = registry.makeMeter(label: "msi_fcm_rate_per_second", dimensions: [])
        gauge.set(3.5)
        #expect(lines.last == "msi_fcm_rate_per_second 3.5")
        gauge.set(Int64(8_000))
        #expect(lines.last == "msi_fcm_rate_per_second 8000")
    }

    @Test("Labels that are made from data do not fill the memory: further ones count as other")
    func bounded() {
        for number in 0..<(MetricRegistry.maxSeries + 50) {
            registry.makeCounter(label: "msi_sign_ins_total", dimensions: [("way", "\(number)")]).increment(by: 1)
        }
        #expect(lines.count == 2 + MetricRegistry.maxSeries + 1)
        #expect(lines.contains(#"msi_sign_ins_total{way="other"} 50"#))
    }

    @Test("Each declared metric has a conventional name, a meaning, and is declared once")
    func declarations() {
        #expect(Set(Instrument.all.map(\.name)).count == Instrument.all.count)
        for instrument in Instrument.all {
            #expect(instrument.name.wholeMatch(of: /(msi|process)_[a-z_]+/) != nil)
            #expect(instrument.help.hasSuffix("."), "\(instrument.name)")
            #expect((instrument.kind == .counter) == instrument.name.hasSuffix("_total"), "\(instrument.name)")
        }
    }
}
