import Base
import TestSupport

extension FaultPhase {
    /// All faults of the emulator. Most of them affect only a share of the requests.
    static let all = [
        faultless,
        FaultPhase(
            name: "temporary errors",
            faults: [
                ["fault": "UNAVAILABLE", "share": 0.1, "retry_after_s": 1], ["fault": "INTERNAL", "share": 0.1, "body": "EMPTY"],
                ["fault": "BAD_GATEWAY", "share": 0.1],
                ["fault": "UNAVAILABLE", "share": 0.1, "body": "HTML", "retry_after_s": 2, "retry_after_form": "DATE"],
            ]),
        FaultPhase(
            name: "permanent errors",
            faults: [
                ["fault": "INVALID_ARGUMENT", "share": 0.1], ["fault": "UNREGISTERED", "share": 0.1, "body": "HTML"],
                ["fault": "SENDER_ID_MISMATCH", "share": 0.1], ["fault": "THIRD_PARTY_AUTH_ERROR", "share": 0.1],
            ]),
        FaultPhase(name: "an FCM that fails altogether", faults: [["fault": "UNAVAILABLE"]]),
        FaultPhase(
            name: "slow answers",
            faults: [
                ["fault": "DELAY", "median_ms": 100, "p99_ms": 3000], ["fault": "DELAY_REPLY", "share": 0.3, "fixed_ms": 800],
                ["fault": "SLOW_BODY", "share": 0.4, "least_ms": 200, "most_ms": 2000],
            ]),
        FaultPhase(name: "an FCM that hangs", faults: [["fault": "DELAY", "share": 0.2, "fixed_ms": 12000]]),
        FaultPhase(
            name: "lost replies",
            faults: [
                ["fault": "LOST_REPLY", "share": 0.1], ["fault": "LOST_REPLY", "share": 0.03, "by": "CLOSE_CONNECTION"],
                ["fault": "LOST_REPLY", "share": 0.03, "by": "CUT_CONNECTION"],
            ]),
        FaultPhase(
            name: "broken streams and connections",
            faults: [
                ["fault": "RESET_STREAM", "share": 0.1], ["fault": "RESET_STREAM", "share": 0.1, "code": 7],
                ["fault": "CLOSE_CONNECTION", "share": 0.05], ["fault": "CUT_CONNECTION", "share": 0.05],
            ]),
        FaultPhase(name: "many GOAWAY frames", faults: [["fault": "GOAWAY", "share": 0.3]]),
        FaultPhase(
            name: "many GOAWAY frames for unprocessed requests",
            faults: [["fault": "GOAWAY_UNDONE", "share": 0.2, "code": 11, "text": "go away"]]),
        FaultPhase(
            name: "quotas by request",
            faults: [
                ["fault": "PROJECT_QUOTA", "share": 0.02, "retry_after_s": 1],
                ["fault": "QUOTA_EXCEEDED", "share": 0.1, "retry_after_s": 1],
            ]),
        FaultPhase(
            name: "small buckets",
            sections: [
                "quotas": [
                    "project": [["most": 60, "every_ms": 1000]], "topic": [["most": 4, "every_ms": 1000]],
                ]
            ]),
        FaultPhase(name: "few streams", sections: ["connections": ["streams": 5, "excess": "REFUSED_STREAM", "age_ms": 700]]),
        FaultPhase(
            name: "few streams and short connections", sections: ["connections": ["streams": 5, "idle_ms": 200, "age_ms": 400]]),
        FaultPhase(
            name: "failing token requests",
            faults: [
                ["fault": "UNAUTHENTICATED", "share": 0.02], ["fault": "INVALID_GRANT", "share": 0.4],
                ["fault": "SKEWED_CLOCK", "share": 0.2], ["fault": "CUT_CONNECTION", "on": "TOKEN", "share": 0.3],
            ], sections: ["oauth": ["token_life_s": 2]]),
        FaultPhase(name: "a restart", outage: Outage(end: .stop, length: .seconds(1))),
        FaultPhase(name: "a crash", outage: Outage(end: .kill, length: .seconds(2))),
    ]
}
