import FCM
import Base

/// Chooses the faults of each request by rules, and counts the hits of each rule.
///
/// The same seed makes the same choices: the n-th request that a stage's rules apply to has the same fault in every run.
struct FaultPlan: Sendable {
    private let seed: UInt32
    private let rules: [FaultRule]
    private var hits: [Int]
    /// One for each stage, so that a rule of one stage does not change the choices of another.
    private var generators: [SeededGenerator]

    /// What happens to one request.
    struct Incident: Hashable, Sendable {
        /// The wait before it is processed.
        var delay: Duration?
        var fault: Fault?
        /// The wait before the answer is sent.
        var replyDelay: Duration?
        /// The time over which the answer's body is sent.
        var bodyTime: Duration?
    }

    var isEmpty: Bool { rules.isEmpty }

    mutating func next(_ operation: Operation, _ subject: FaultRule.Subject) -> Incident {
        var incident = Incident()
        for stage in FaultName.Stage.allCases {
            var generator = generators[stage.rawValue]
            switch draw(stage, operation, subject, &generator) {
            case nil: break
            case .delay(let latency): incident.delay = latency.draw(from: &generator)
            case .delayReply(let latency): incident.replyDelay = latency.draw(from: &generator)
            case .slowBody(let latency): incident.bodyTime = latency.draw(from: &generator)
            case let fault: incident.fault = fault
            }
            generators[stage.rawValue] = generator
        }
        return incident
    }

    /// All rules share one draw, so that their shares add up.
    private mutating func draw(
        _ stage: FaultName.Stage, _ operation: Operation, _ subject: FaultRule.Subject, _ generator: inout SeededGenerator
    ) -> Fault? {
        var left: Double?
        for (index, rule) in rules.enumerated()
        where rule.name.stage == stage && rule.isFor(operation, subject, hits: hits[index]) {
            let rest = left ?? Double.random(in: 0..<1, using: &generator)
            guard rest >= rule.share else {
                hits[index] += 1
                return rule.fault
            }
            left = rest - rule.share
        }
        return nil
    }
}

extension FaultPlan: ControlSection {
    static let form = FCMForm("emulator.Faults", ["seed": .int32, "rules": .list(.message(FaultRule.form))])

    /// Every rule costs time in every request.
    private static let maxRules = 100

    init(_ fields: ControlFields) throws {
        seed = try fields.integer("seed", in: 0...Int(Int32.max)).map { UInt32($0) } ?? .random(in: 0...UInt32(Int32.max))
        rules = try (fields.list("rules") ?? []).map { try FaultRule($0) }
        guard rules.count <= Self.maxRules else {
            throw fields.violation("rules", "expected at most \(Self.maxRules), found \(rules.count)")
        }
        hits = Array(repeating: 0, count: rules.count)
        let seed = UInt64(seed)
        generators = FaultName.Stage.allCases.map { SeededGenerator(seed: seed << 8 | UInt64($0.rawValue)) }
    }

    var document: JSONValue {
        let shown = zip(rules, hits).map { rule, hits in
            JSONValue.object((rule.document.members ?? []) + [.init("hits", .integer(hits))])
        }
        return ["seed": .integer(seed), "rules": .array(shown)]
    }
}
