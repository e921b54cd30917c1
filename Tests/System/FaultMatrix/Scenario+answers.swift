import Base
import TestSupport

extension Scenario {
    /// FCM's errors, and requests that fail one by one. Other requests are not affected.
    static let answers = Scenario(
        name: "answers",
        cases: [
            // This topic has no fault, while other topics have faults.
            FaultCase(nil, .relayed, messages: 20, every: .milliseconds(500))
        ] + mixed(failing, refused, slow))

    /// Each list is spread evenly, so that few failures follow one another: twenty in a row would open the circuit.
    private static func mixed(_ lists: [FaultCase]...) -> [FaultCase] {
        lists.flatMap { list in
            list.enumerated().map { (place: (Double($0.offset) + 0.5) / Double(list.count), faultCase: $0.element) }
        }.sorted { $0.place < $1.place }.map(\.faultCase)
    }

    private static let refused = [
        // Permanent errors: a retry cannot help. Without FCM's own code HTTP's status is the code.
        FaultCase(["fault": "INVALID_ARGUMENT"], .failed("INVALID_ARGUMENT"), hits: .all),
        FaultCase(["fault": "INVALID_ARGUMENT", "body": "HTML"], .failed("HTTP_400"), hits: .all),
        FaultCase(["fault": "THIRD_PARTY_AUTH_ERROR"], .failed("THIRD_PARTY_AUTH_ERROR"), hits: .all),
        FaultCase(["fault": "SENDER_ID_MISMATCH"], .failed("SENDER_ID_MISMATCH"), hits: .all),
        FaultCase(["fault": "SENDER_ID_MISMATCH", "body": "EMPTY"], .failed("HTTP_403"), hits: .all),
        FaultCase(["fault": "UNREGISTERED"], .failed("UNREGISTERED"), hits: .all),
        FaultCase(["fault": "UNREGISTERED", "body": "HTML"], .failed("HTTP_404"), hits: .all),
        FaultCase(["fault": "UNREGISTERED", "body": "EMPTY"], .failed("HTTP_404"), hits: .all),

        // A topic's quota: only that topic pauses. The project's quota: all topics wait, and continue.
        FaultCase(["fault": "QUOTA_EXCEEDED", "retry_after_s": 14], .retried(after: "QUOTA_EXCEEDED", seconds: 14)),
        FaultCase(
            ["fault": "QUOTA_EXCEEDED", "retry_after_s": 16, "retry_after_form": "DATE"],
            .retried(after: "QUOTA_EXCEEDED", seconds: 14)),
        FaultCase(["fault": "PROJECT_QUOTA", "retry_after_s": 1], .retried(after: "RATE_LIMIT_EXCEEDED")),
        FaultCase(
            ["fault": "PROJECT_QUOTA", "retry_after_s": 2, "retry_after_form": "DATE"], .retried(after: "RATE_LIMIT_EXCEEDED")
        ),
        // Until the expiry: the last error stays.
        FaultCase(["fault": "QUOTA_EXCEEDED"], .expired(["QUOTA_EXCEEDED"]), hits: .all, lifetime: 14),
    ]

    private static let failing = [
        // Retryable errors: retried after FCM's Retry-After, or after ten seconds and then twice as long.
        FaultCase(["fault": "INTERNAL"], .retried(after: "INTERNAL")),
        FaultCase(["fault": "INTERNAL", "body": "HTML"], .retried(after: "HTTP_500")),
        FaultCase(["fault": "INTERNAL", "body": "EMPTY"], .retried(after: "HTTP_500")),
        FaultCase(["fault": "UNAVAILABLE"], .retried(after: "UNAVAILABLE")),
        FaultCase(["fault": "UNAVAILABLE"], .retried(after: "UNAVAILABLE", seconds: 24), hits: .first(2)),
        FaultCase(["fault": "UNAVAILABLE", "body": "HTML"], .retried(after: "HTTP_503")),
        FaultCase(["fault": "UNAVAILABLE", "body": "EMPTY"], .retried(after: "HTTP_503")),
        FaultCase(["fault": "UNAVAILABLE", "retry_after_s": 2], .retried(after: "UNAVAILABLE")),
        FaultCase(["fault": "UNAVAILABLE", "retry_after_s": 18], .retried(after: "UNAVAILABLE", seconds: 18)),
        FaultCase(
            ["fault": "UNAVAILABLE", "retry_after_s": 20, "retry_after_form": "DATE"],
            .retried(after: "UNAVAILABLE", seconds: 18)),
        FaultCase(["fault": "INTERNAL", "retry_after_s": 18, "body": "EMPTY"], .retried(after: "HTTP_500", seconds: 18)),
        FaultCase(["fault": "BAD_GATEWAY"], .retried(after: "HTTP_502", seconds: 30)),
        FaultCase(["fault": "BAD_GATEWAY", "body": "JSON", "retry_after_s": 14], .retried(after: "UNAVAILABLE", seconds: 14)),

        // Retryable errors until the expiry: the last error stays.
        FaultCase(["fault": "UNAVAILABLE"], .expired(["UNAVAILABLE"]), hits: .all, lifetime: 14),
        FaultCase(["fault": "INTERNAL", "retry_after_s": 3600], .expired(["INTERNAL"]), hits: .all, lifetime: 14),

        // A stream ends without an answer: refused streams are repeated at once, others are retried later.
        FaultCase(["fault": "RESET_STREAM"], .retried(after: "NETWORK")),
        FaultCase(["fault": "RESET_STREAM", "code": 11], .retried(after: "NETWORK")),
        FaultCase(["fault": "RESET_STREAM", "code": 7], .relayed),
        FaultCase(["fault": "LOST_REPLY"], .mayDouble(after: ["NETWORK"])),
        FaultCase(["fault": "LOST_REPLY", "by": "RESET_STREAM", "code": 8], .mayDouble(after: ["NETWORK"])),
    ]

    private static let slow = [
        // A delay within the timeout has no effect. After a longer one FCM may have the component, so it is sent again.
        FaultCase(["fault": "DELAY", "fixed_ms": 2_000], .relayed),
        FaultCase(["fault": "DELAY_REPLY", "least_ms": 1_000, "most_ms": 3_000], .relayed),
        FaultCase(["fault": "SLOW_BODY", "median_ms": 1_500, "p99_ms": 5_000], .relayed),
        FaultCase(["fault": "DELAY", "fixed_ms": 12_000], .mayDouble(after: ["TIMEOUT"])),
        FaultCase(["fault": "DELAY_REPLY", "fixed_ms": 12_000], .mayDouble(after: ["TIMEOUT"])),
        FaultCase(["fault": "SLOW_BODY", "fixed_ms": 14_000], .mayDouble(after: ["TIMEOUT"])),
    ]

    /// Errors that affect the whole project: after repeated failures the circuit opens, and a used-up quota stops all topics,
    /// even if the answer does not say whose quota it is.
    static let project = Scenario(
        name: "the project as a whole",
        cases: [
            FaultCase(["fault": "UNAVAILABLE", "body": "HTML"], .relayedSomehow(after: trouble), messages: 8),
            FaultCase(["fault": "QUOTA_EXCEEDED", "retry_after_s": 4, "body": "EMPTY"], .relayedSomehow(after: trouble)),
            FaultCase(["fault": "PROJECT_QUOTA", "retry_after_s": 4], .relayedSomehow(after: trouble)),
            FaultCase(nil, .relayedSomehow(after: trouble), messages: 20, every: .milliseconds(300)),
        ])

    private static let trouble: Set = ["HTTP_503", "CIRCUIT_OPEN", "HTTP_429", "RATE_LIMIT_EXCEEDED", "PROJECT_PAUSED"]
}
