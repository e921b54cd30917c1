import HTTPTypes
import JSON
import Time

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
