import TestSupport
import Base
import Testing

@testable import Endurance
@testable import FCMEmulator

@Suite("Fault phases")
struct FaultPhaseTests {
    private func phases(_ seed: UInt64) -> [FaultPhase] {
        var phases = FaultPhaseSequence(seed: seed)
        return (0..<2 * FaultPhase.all.count).map { _ in phases.next().phase }
    }

    @Test("Each phase occurs equally often, and the same seed has the same order")
    func order() {
        let one = phases(1)
        #expect(Dictionary(grouping: one, by: \.name).values.allSatisfy { $0.count == 2 })
        #expect(one == phases(1) && one != phases(2))
    }

    @Test("Every fault and every section of the emulator occurs")
    func all() {
        #expect(
            Set(FaultPhase.all.flatMap(\.faults).compactMap { $0["fault"]?.string }) == Set(FaultName.allCases.map(\.rawValue)))
        #expect(Set(FaultPhase.all.flatMap(\.sections.keys)) == ["quotas", "connections", "oauth"])
    }
}
