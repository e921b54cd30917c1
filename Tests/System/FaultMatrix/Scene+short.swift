import JSON

extension Scene {
    /// The part of the matrix that each change must pass.
    static let short = [someAnswers, someRefusedTokens]

    private static let someAnswers = Scene(
        name: "some answers and connections",
        cells: [
            Cell(nil, .relayed, messages: 5),
            Cell(["fault": "UNAVAILABLE", "retry_after_s": 14], .retried(after: "UNAVAILABLE", seconds: 14)),
            Cell(["fault": "INTERNAL"], .retried(after: "INTERNAL")),
            Cell(["fault": "QUOTA_EXCEEDED", "retry_after_s": 12], .retried(after: "QUOTA_EXCEEDED", seconds: 12)),
            Cell(["fault": "INVALID_ARGUMENT"], .failed("INVALID_ARGUMENT"), hits: .all),
            Cell(["fault": "UNREGISTERED"], .failed("UNREGISTERED"), hits: .all),
            Cell(["fault": "UNAVAILABLE"], .expired(["UNAVAILABLE"]), hits: .all, lifetime: 12),
            Cell(["fault": "RESET_STREAM"], .retried(after: "NETWORK")),
            Cell(["fault": "LOST_REPLY"], .mayDouble(after: ["NETWORK"])),
        ])

    private static let someRefusedTokens = Scene(
        name: "some refused tokens and cut connections", behaviour: ["oauth": ["token_life_s": 4]],
        rules: [["fault": "INVALID_GRANT", "count": 1]],
        cells: [
            Cell(["fault": "UNAUTHENTICATED"], .relayedSomehow(after: troubled)),
            Cell(["fault": "CUT_CONNECTION"], .mayDoubleInCrowd(after: troubled)),
            Cell(nil, .mayDoubleInCrowd(after: troubled), messages: 5, every: .milliseconds(400)),
        ])

    private static let troubled: Set = [
        "OAUTH", "ACCESS_TOKEN_EXPIRED", "HTTP_401", "CIRCUIT_OPEN", "NETWORK", "TIMEOUT",
    ]
}
