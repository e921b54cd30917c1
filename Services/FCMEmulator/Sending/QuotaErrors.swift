import HTTPTypes

extension GoogleError {
    /// The error for a quota that is used up, with when to come back.
    ///
    /// - Parameter subject: What the message is for.
    init(_ excess: Quotas.Excess, _ subject: FaultRule.Subject) {
        let wait: Int64
        switch excess {
        case .project(let limit, let milliseconds):
            self = .projectQuotaExceeded(project: ServiceAccount.projectNumber, limit: limit)
            wait = milliseconds
        case .target(let milliseconds):
            self = .targetQuotaExceeded(subject)
            wait = milliseconds
        }
        headers[.retryAfter] = String((wait + 999) / 1_000)
    }

    /// More messages than the project may send in a minute. Unlike any other error of a send it has no detail of FCM's own.
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

    /// More messages than may go to one topic, or to one phone.
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
