import Base
import Schemas
import Testing

@testable import Operator

/// What `msi doctor` says about erasures.
@Suite("The doctor's check of erasures")
struct DoctorErasureTests {
    private static let now = UnixMilliseconds(rawValue: 1_796_000_000_000)

    private func erasure(begun seconds: Int64) -> ErasureReport {
        ErasureReport(
            id: ObjectID(), begun: Self.now - .seconds(seconds), finished: nil, services: [], waiting: ["message-log"])
    }

    private func findings(_ waiting: [ErasureReport], store: Int = 3, log: Int?) -> [Finding] {
        StudentCheck.findings(
            about: ListErasures.Reply(erasedNames: store, waiting: waiting, finished: []), logged: log, at: Self.now)
    }

    @Test("Erasures that wait for long are a failure that names the service, and a log that differs from the store is a warning")
    func findings() {
        #expect(findings([], log: 3).isEmpty && findings([erasure(begun: 60)], log: nil).isEmpty)
        let late = findings([erasure(begun: 60), erasure(begun: 600)], log: 3)
        #expect(late.map(\.level) == [.failure] && late.first?.found.contains("waited for message-log") == true)
        #expect(late.first?.found.hasSuffix(": 1") == true)
        let differing = findings([], log: 2)
        #expect(differing.map(\.level) == [.warning])
        #expect(differing.first?.found == "erasures.log has 2 erased persons, and the store 3")
    }
}
