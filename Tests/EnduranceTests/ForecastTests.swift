import TestSupport
import JSON
import Testing

@testable import Endurance
@testable import FCMEmulator

@Suite("Forecast")
struct ForecastTests {
    private func weathers(_ seed: UInt64) -> [Weather] {
        var forecast = Forecast(seed: seed)
        return (0..<2 * Weather.all.count).map { _ in forecast.next().weather }
    }

    @Test("Each weather comes equally often, and the same seed has the same order")
    func deck() {
        let one = weathers(1)
        #expect(Dictionary(grouping: one, by: \.name).values.allSatisfy { $0.count == 2 })
        #expect(one == weathers(1) && one != weathers(2))
    }

    @Test("Every fault and every section of the emulator occurs")
    func all() {
        #expect(Set(Weather.all.flatMap(\.faults).compactMap { $0["fault"]?.string }) == Set(FaultName.allCases.map(\.rawValue)))
        #expect(Set(Weather.all.flatMap(\.sections.keys)) == ["quotas", "connections", "oauth"])
    }
}
