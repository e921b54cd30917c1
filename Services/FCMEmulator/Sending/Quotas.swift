import FCM
import HTTPTypes
import Base
import Schemas

/// FCM's quotas of a project, of a topic and of a phone.
struct Quotas: Sendable {
    /// The only key of the project's buckets.
    private enum Project: Hashable { case own }

    private var project: Buckets<Project>
    private var topics: Buckets<String>
    private var devices: Buckets<String>
    /// The quota of messages with a collapse key that may wait for a phone.
    private var collapsible: Buckets<String>

    /// Which quota is used up, and for how long.
    enum Excess: Hashable, Sendable {
        case project(limit: Int, wait: Milliseconds)
        case target(wait: Milliseconds)
    }

    /// Counts a request against the project's quota.
    mutating func takeFromProject(now: UnixMilliseconds) -> Excess? {
        project.take(.own, now: now).map { .project(limit: project.allowances.map(\.capacity).min() ?? 0, wait: $0) }
    }

    /// Takes back a request that FCM does not count.
    mutating func putBackToProject() {
        project.putBack(.own)
    }

    /// Counts a message against its topic's or phone's quota.
    mutating func take(_ target: SendRequest.Target, isCollapsible: Bool, now: UnixMilliseconds) -> Excess? {
        switch target {
        case .topic(let name): return topics.take(name, now: now).map { .target(wait: $0) }
        case .condition: return nil
        case .token(let id), .installation(let id):
            if let wait = devices.take(id, now: now) { return .target(wait: wait) }
            guard isCollapsible, let wait = collapsible.take(id, now: now) else { return nil }
            devices.putBack(id)
            return .target(wait: wait)
        }
    }

    /// Returns the tokens of a message that was not accepted.
    mutating func putBack(_ target: SendRequest.Target, isCollapsible: Bool) {
        switch target {
        case .topic(let name): topics.putBack(name)
        case .condition: break
        case .token(let id), .installation(let id):
            devices.putBack(id)
            if isCollapsible { collapsible.putBack(id) }
        }
    }
}

extension Quotas: ControlSection {
    private static let bucket = FCMForm.Field.list(
        .message(
            FCMForm("emulator.Bucket", ["most": .int32, "refill": .int32, "every_ms": .int32, "phase_ms": .int32])))

    static let form = FCMForm(
        "emulator.Quotas", ["project": bucket, "topic": bucket, "device": bucket, "collapsible": bucket])

    private static let minute: Milliseconds = 60_000

    /// An empty list means no limit. A missing one means FCM's own quota.
    init(_ fields: ControlFields) throws {
        // FCM's minutes do not start at full minutes of the clock. The emulator's start with the emulator, unless
        // `phase_ms` is set.
        let started = UnixMilliseconds.now()
        func allowances(_ name: String, else usual: [Allowance]) throws -> [Allowance] {
            try fields.list(name)?.map { try Allowance($0, started: started) } ?? usual
        }
        func usual(_ capacity: Int, refill: Int? = nil, every: Milliseconds) -> Allowance {
            Allowance(capacity: capacity, refill: refill ?? capacity, every: every, phase: started)
        }
        project = Buckets(try allowances("project", else: [usual(600_000, every: Self.minute)]))
        topics = Buckets(try allowances("topic", else: []))
        devices = Buckets(
            try allowances("device", else: [usual(240, every: Self.minute), usual(5_000, every: Self.minute * 60)]))
        collapsible = Buckets(try allowances("collapsible", else: [usual(20, refill: 1, every: Self.minute * 3)]))
    }

    var document: JSONValue {
        let left = project.left(.own, now: .now())
        let own = zip(project.allowances, left).map { allowance, left in
            JSONValue.object(allowance.members + [.init("left", .integer(left))])
        }
        func list(_ allowances: [Allowance]) -> JSONValue { .array(allowances.map { .object($0.members) }) }
        return [
            "project": .array(own), "topic": list(topics.allowances), "device": list(devices.allowances),
            "collapsible": list(collapsible.allowances),
        ]
    }
}

extension Allowance {
    fileprivate init(_ fields: ControlFields, started: UnixMilliseconds) throws {
        let any = 1...Int(Int32.max)
        guard let capacity = try fields.integer("most", in: any) else { throw fields.violation("most", "a bucket needs it") }
        guard let every = try fields.integer("every_ms", in: any) else { throw fields.violation("every_ms", "a bucket needs it") }
        self.init(
            capacity: capacity, refill: try fields.integer("refill", in: any) ?? capacity,
            every: Milliseconds(rawValue: Int64(every)),
            phase: try fields.integer("phase_ms", in: 0...Int(Int32.max)).map { UnixMilliseconds(rawValue: Int64($0)) } ?? started
        )
    }

    fileprivate var members: [JSONValue.Member] {
        [
            .init("most", .integer(capacity)), .init("refill", .integer(refill)), .init("every_ms", .integer(every.rawValue)),
            .init("phase_ms", .integer(phase.rawValue % every.rawValue)),
        ]
    }
}

extension GoogleError {
    /// The error for a used-up quota, with its `Retry-After`.
    ///
    /// - Parameter subject: The message's target.
    init(_ excess: Quotas.Excess, _ subject: FaultRule.Subject) {
        let wait: Milliseconds
        switch excess {
        case .project(let limit, let time):
            self = .projectQuotaExceeded(project: ServiceAccount.projectNumber, limit: limit)
            wait = time
        case .target(let time):
            self = .targetQuotaExceeded(subject)
            wait = time
        }
        headers[.retryAfter] = Seconds(roundingUp: wait).description
    }

    /// The project's quota is used up. Unlike all other errors of a send, this one has no detail of FCM's own.
    ///
    /// - Parameter project: The project's number.
    static func projectQuotaExceeded(project: String, limit: Int) -> GoogleError {
        GoogleError(
            httpStatus: .tooManyRequests, status: "RESOURCE_EXHAUSTED",
            message: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service "
                + "'fcm.googleapis.com' for consumer 'project_number:\(project)'.",
            details: [
                [
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED",
                    "domain": "googleapis.com",
                    "metadata": [
                        "quota_limit_value": .string(String(limit)), "consumer": .string("projects/\(project)"),
                        "quota_metric": "fcm.googleapis.com/send_requests", "quota_unit": "1/min/{project}",
                        "service": "fcm.googleapis.com", "quota_location": "global",
                        "quota_limit": "SendsPerMinutePerProject",
                    ],
                ],
                [
                    "@type": "type.googleapis.com/google.rpc.Help",
                    "links": [
                        [
                            "description": "Request a higher quota limit.",
                            "url": "https://cloud.google.com/docs/quotas/help/request_increase",
                        ]
                    ],
                ],
            ])
    }

    /// The quota of one topic or phone is used up.
    static func targetQuotaExceeded(_ subject: FaultRule.Subject) -> GoogleError {
        let (kind, name) = subject.topic.map { ("Topic", "/topics/\($0)") } ?? ("Device", subject.target ?? "")
        return .fcm(
            .quotaExceeded, "\(kind) quota exceeded.",
            after: [
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [
                    ["subject": .string(name), "description": .string("\(kind) message rate exceeded")]
                ],
            ])
    }
}
