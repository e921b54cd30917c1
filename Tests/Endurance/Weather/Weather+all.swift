import JSON
import TestSupport

extension Weather {
    /// All faults of the emulator. Most of them affect only a share of the requests.
    static let all = [
        calm,
        Weather(
            name: "errors for now",
            faults: [
                ["fault": "UNAVAILABLE", "share": 0.1, "retry_after_s": 1], ["fault": "INTERNAL", "share": 0.1, "body": "EMPTY"],
                ["fault": "BAD_GATEWAY", "share": 0.1],
                ["fault": "UNAVAILABLE", "share": 0.1, "body": "HTML", "retry_after_s": 2, "retry_after_form": "DATE"],
            ]),
        Weather(
            name: "errors for good",
            faults: [
                ["fault": "INVALID_ARGUMENT", "share": 0.1], ["fault": "UNREGISTERED", "share": 0.1, "body": "HTML"],
                ["fault": "SENDER_ID_MISMATCH", "share": 0.1], ["fault": "THIRD_PARTY_AUTH_ERROR", "share": 0.1],
            ]),
        Weather(name: "an FCM that fails altogether", faults: [["fault": "UNAVAILABLE"]]),
        Weather(
            name: "waits",
            faults: [
                ["fault": "DELAY", "median_ms": 100, "p99_ms": 3000], ["fault": "DELAY_REPLY", "share": 0.3, "fixed_ms": 800],
                ["fault": "SLOW_BODY", "share": 0.4, "least_ms": 200, "most_ms": 2000],
            ]),
        Weather(name: "an FCM that hangs", faults: [["fault": "DELAY", "share": 0.2, "fixed_ms": 12000]]),
        Weather(
            name: "lost replies",
            faults: [
                ["fault": "LOST_REPLY", "share": 0.1], ["fault": "LOST_REPLY", "share": 0.03, "by": "CLOSE_CONNECTION"],
                ["fault": "LOST_REPLY", "share": 0.03, "by": "CUT_CONNECTION"],
            ]),
        Weather(
            name: "broken streams and connections",
            faults: [
                ["fault": "RESET_STREAM", "share": 0.1], ["fault": "RESET_STREAM", "share": 0.1, "code": 7],
                ["fault": "CLOSE_CONNECTION", "share": 0.05], ["fault": "CUT_CONNECTION", "share": 0.05],
            ]),
        Weather(name: "a storm of GOAWAY", faults: [["fault": "GOAWAY", "share": 0.3]]),
        Weather(
            name: "a storm of GOAWAY undone", faults: [["fault": "GOAWAY_UNDONE", "share": 0.2, "code": 11, "text": "go away"]]),
        Weather(
            name: "quotas by request",
            faults: [
                ["fault": "PROJECT_QUOTA", "share": 0.02, "retry_after_s": 1],
                ["fault": "QUOTA_EXCEEDED", "share": 0.1, "retry_after_s": 1],
            ]),
        Weather(
            name: "small buckets",
            sections: [
                "quotas": [
                    "project": [["most": 60, "every_ms": 1000]], "topic": [["most": 4, "every_ms": 1000]],
                ]
            ]),
        Weather(name: "few streams", sections: ["connections": ["streams": 5, "excess": "REFUSED_STREAM", "age_ms": 700]]),
        Weather(name: "few streams, or the end", sections: ["connections": ["streams": 5, "idle_ms": 200, "age_ms": 400]]),
        Weather(
            name: "tokens in trouble",
            faults: [
                ["fault": "UNAUTHENTICATED", "share": 0.02], ["fault": "INVALID_GRANT", "share": 0.4],
                ["fault": "SKEWED_CLOCK", "share": 0.2], ["fault": "CUT_CONNECTION", "on": "TOKEN", "share": 0.3],
            ], sections: ["oauth": ["token_life_s": 2]]),
        Weather(name: "a restart", outage: Outage(end: .stop, length: .seconds(1))),
        Weather(name: "a crash", outage: Outage(end: .kill, length: .seconds(2))),
    ]
}
