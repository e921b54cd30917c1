import FCM
import Base
import NIOHTTP2

/// Which requests a fault applies to, and how often.
struct FaultRule: Sendable {
    let name: FaultName
    let fault: Fault
    let operation: Operation
    /// Only requests about this topic; `nil` for any.
    let topic: String?
    /// The share of the matching requests that no earlier rule took; 1 for all of them.
    let share: Double
    /// The maximum number of hits; `nil` for no limit.
    let count: Int?
    /// The rule as it was written.
    let document: JSONValue

    /// The properties of a request that rules match, and that errors name.
    struct Subject: Hashable, Sendable {
        let topic: String?
        /// The registration token, installation id or condition of a send without a topic.
        let target: String?

        static let none = Subject(topic: nil, target: nil)
    }

    func isFor(_ operation: Operation, _ subject: Subject, hits: Int) -> Bool {
        operation == self.operation && (topic == nil || topic == subject.topic) && hits < count ?? .max
    }
}

extension FaultRule {
    private enum RetryAfterForm: String, CaseIterable {
        case seconds = "SECONDS"
        case date = "DATE"
    }

    private enum BreakName: String, CaseIterable {
        case resetStream = "RESET_STREAM"
        case closeConnection = "CLOSE_CONNECTION"
        case cutConnection = "CUT_CONNECTION"
    }

    static let form = FCMForm(
        "emulator.Fault",
        [
            "fault": .choice(FaultName.self), "on": .choice(Operation.self), "topic": .string, "share": .float, "count": .int32,
            "fixed_ms": .float, "least_ms": .float, "most_ms": .float, "median_ms": .float, "p99_ms": .float,
            "retry_after_s": .int32, "retry_after_form": .choice(RetryAfterForm.self), "body": .choice(FaultAnswer.Body.self),
            "by": .choice(BreakName.self), "code": .int32, "text": .string,
        ])

    private static let common: Set = ["fault", "on", "topic", "share", "count"]

    /// - Throws: ``GoogleError`` for a field that is missing, out of range or without meaning for the fault.
    init(_ fields: ControlFields) throws {
        guard let name = fields.choice("fault", as: FaultName.self) else {
            throw fields.violation("fault", "a rule needs the name of a fault")
        }
        if let idle = fields.names.first(where: { !Self.common.contains($0) && !name.details.contains($0) }) {
            throw fields.violation(idle, "it means nothing for \(name.rawValue)")
        }
        let operation = fields.choice("on", as: Operation.self) ?? name.operations[0]
        guard name.operations.contains(operation) else {
            throw fields.violation("on", "\(name.rawValue) does not happen to \(operation.rawValue)")
        }
        self.name = name
        self.operation = operation
        topic = fields.text("topic")
        share = try fields.fraction("share", in: 0...1) ?? 1
        count = try fields.integer("count", in: 1...Int(Int32.max))
        fault = try Self.fault(name, fields)
        document = fields.object
    }

    private static func fault(_ name: FaultName, _ fields: ControlFields) throws -> Fault {
        switch name {
        case .delay: .delay(try latency(fields))
        case .delayReply: .delayReply(try latency(fields))
        case .slowBody: .slowBody(try latency(fields))
        case .resetStream: .breakOff(.resetStream(try code(fields) ?? .internalError))
        case .closeConnection: .breakOff(.closeConnection)
        case .cutConnection: .breakOff(.cutConnection)
        case .goAway: .goAway(try reason(fields))
        case .goAwayUndone: .goAwayUndone(try reason(fields))
        case .lostReply: .loseReply(try loss(fields))
        case .invalidArgument: .answer(try answer(.invalidArgument, fields))
        case .unauthenticated: .answer(try answer(.unauthenticated, fields))
        case .thirdPartyAuthError: .answer(try answer(.thirdPartyAuthError, fields))
        case .senderIDMismatch: .answer(try answer(.senderIDMismatch, fields))
        case .unregistered: .answer(try answer(.unregistered, fields))
        case .quotaExceeded: .answer(try answer(.targetQuota, fields))
        case .projectQuota: .answer(try answer(.projectQuota, fields))
        case .internal: .answer(try answer(.internal, fields))
        case .badGateway: .answer(try answer(.badGateway, fields))
        case .unavailable: .answer(try answer(.unavailable, fields))
        case .invalidGrant: .answer(try answer(.invalidGrant, fields))
        case .skewedClock: .answer(try answer(.skewedClock, fields))
        }
    }

    private static func latency(_ fields: ControlFields) throws -> Latency {
        func milliseconds(_ name: String, from min: Double = 0) throws -> Double? {
            try fields.fraction(name, in: min...Latency.maxMilliseconds)
        }
        switch Set(fields.names).subtracting(common) {
        case ["fixed_ms"]:
            if let value = try milliseconds("fixed_ms") { return .fixed(value) }
        case ["least_ms", "most_ms"]:
            if let min = try milliseconds("least_ms"), let max = try milliseconds("most_ms", from: min) {
                return .uniform(min: min, max: max)
            }
        case ["median_ms", "p99_ms"]:
            if let median = try milliseconds("median_ms", from: 0.001), let p99 = try milliseconds("p99_ms", from: median) {
                return .longTail(median: median, p99: p99)
            }
        default: break
        }
        throw fields.violation("fault", "it needs fixed_ms, or least_ms and most_ms, or median_ms and p99_ms")
    }

    private static func code(_ fields: ControlFields) throws -> HTTP2ErrorCode? {
        try fields.integer("code", in: 0...0xD).map { HTTP2ErrorCode(networkCode: $0) }
    }

    private static func reason(_ fields: ControlFields) throws -> GoAway.Reason {
        .init(code: try code(fields) ?? .noError, text: fields.text("text") ?? GoAway.Reason.age.text)
    }

    private static func loss(_ fields: ControlFields) throws -> Fault.Break {
        let code = try code(fields)
        switch fields.choice("by", as: BreakName.self) ?? .resetStream {
        case .resetStream: return .resetStream(code ?? .internalError)
        case .closeConnection: return .closeConnection
        case .cutConnection: return .cutConnection
        }
    }

    private static func answer(_ error: FaultAnswer.Kind, _ fields: ControlFields) throws -> FaultAnswer {
        let seconds = try fields.seconds("retry_after_s", in: 0...86_400)
        let isDate = fields.choice("retry_after_form", as: RetryAfterForm.self) == .date
        return FaultAnswer(
            error: error, retryAfter: seconds.map { isDate ? .date($0) : .seconds($0) },
            body: fields.choice("body") ?? (error == .badGateway ? .html : .json))
    }
}
