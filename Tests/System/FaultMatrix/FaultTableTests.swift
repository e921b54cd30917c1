import JSON
import TestSupport
import Testing

@testable import FCMEmulator

extension SystemTests {
    @Suite("Fault table")
    struct FaultTableTests {
        @Test("The matrix has every fault of the emulator, and every form of its answers")
        func all() {
            let rules = Scene.all.flatMap { $0.rules + $0.cells.compactMap(\.fault) }
            func values(_ name: String) -> Set<String> { Set(rules.compactMap { $0[name]?.string }) }
            #expect(values("fault") == Set(FaultName.allCases.map(\.rawValue)))
            #expect(values("body") == Set(FaultAnswer.Body.allCases.map(\.rawValue)))
            #expect(values("by") == ["RESET_STREAM", "CLOSE_CONNECTION", "CUT_CONNECTION"])
            #expect(rules.contains { $0["retry_after_form"] == "DATE" } && rules.contains { $0["retry_after_s"] != nil })
        }
    }
}
