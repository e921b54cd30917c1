import Base
import TestSupport
import Testing

/// Cases that run in one stack at the same time, so that their waits overlap.
struct Scenario: Hashable, Sendable, CustomTestStringConvertible {
    let name: String
    /// The emulator's initial settings, one member for each section.
    var behaviour: JSONValue = [:]
    /// Rules without a topic, for the token endpoint.
    var rules: [JSONValue] = []
    /// How many requests one fault may leave without an answer; `nil` if connections also end without a fault.
    var streams: Int? = 1
    let cases: [FaultCase]

    var testDescription: String { name }

    static let all = [answers, project, connections, crowd, limits, excess, credentials, refusedTokens]
}

/// A case with one relay or two.
struct CaseRun: Hashable, Sendable, CustomTestStringConvertible {
    let scenario: Scenario
    let faultCase: FaultCase

    static let all = Scenario.all.flatMap { scenario in scenario.cases.map { CaseRun(scenario: scenario, faultCase: $0) } }

    var testDescription: String { "\(scenario.name): \(faultCase.testDescription)" }
}
