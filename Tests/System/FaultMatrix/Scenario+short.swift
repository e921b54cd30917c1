import Base

extension Scenario {
    /// The part of the matrix that each change must pass.
    static let short = [someAnswers, someRefusedTokens]

    private static let someAnswers = Scenario(
        name: "some answers and connections",
        cases: [
            FaultCase(nil, .relayed, messages: 5),
            FaultCase(["fault": "UNAVAILABLE", "retry_after_s": 14], .retried(after: "UNAVAILABLE", seconds: 14)),
            FaultCase(["fault": "INTERNAL"], .retried(after: "INTERNAL")),
            FaultCase(["fault": "QUOTA_EXCEEDED", "retry_after_s": 12], .retried(after: "QUOTA_EXCEEDED", seconds: 12)),
            FaultCase(["fault": "INVALID_ARGUMENT"], .failed("INVALID_ARGUMENT"), hits: .all),
            FaultCase(["fault": "UNREGISTERED"], .failed("UNREGISTERED"), hits: .all),
            FaultCase(["fault": "UNAVAILABLE"], .expired(["UNAVAILABLE"]), hits: .all, lifetime: 12),
            FaultCase(["fault": "RESET_STREAM"], .retried(after: "NETWORK")),
            FaultCase(["fault": "LOST_REPLY"], .mayDouble(after: ["NETWORK"])),
        ])

    private static let someRefusedTokens = Scenario(
        name: "some refused tokens and cut connections", behaviour: ["oauth": ["token_life_s": 4]],
        rules: [["fault": "INVALID_GRANT", "count": 1]],
        cases: [
            FaultCase(["fault": "UNAUTHENTICATED"], .relayedSomehow(after: troubled)),
            FaultCase(["fault": "CUT_CONNECTION"], .mayDoubleInCrowd(after: troubled)),
            FaultCase(nil, .mayDoubleInCrowd(after: troubled), messages: 5, every: .milliseconds(400)),
        ])

    private static let troubled: Set = [
        "OAUTH", "ACCESS_TOKEN_EXPIRED", "HTTP_401", "CIRCUIT_OPEN", "NETWORK", "TIMEOUT",
    ]
}
