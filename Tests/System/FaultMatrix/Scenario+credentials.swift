import Base
import TestSupport

extension Scenario {
    /// Access tokens with a lifetime of seconds, and a failing token endpoint: messages without a token wait with an error.
    static let credentials = Scenario(
        name: "a token endpoint in trouble", behaviour: ["oauth": ["token_life_s": 4]],
        rules: [
            ["fault": "INVALID_GRANT", "count": 1], ["fault": "SKEWED_CLOCK", "count": 1],
            ["fault": "UNAVAILABLE", "on": "TOKEN", "body": "HTML", "retry_after_s": 2, "count": 1],
            ["fault": "LOST_REPLY", "on": "TOKEN", "by": "CUT_CONNECTION", "count": 1],
            ["fault": "DELAY", "on": "TOKEN", "fixed_ms": 300, "count": 6],
        ],
        cases: [
            FaultCase(nil, .relayedSomehow(after: ["OAUTH", "CIRCUIT_OPEN"]), messages: 40, every: .milliseconds(400)),
            FaultCase(["fault": "UNAVAILABLE"], .relayedSomehow(after: ["OAUTH", "CIRCUIT_OPEN", "UNAVAILABLE"])),
        ])

    /// An FCM that refuses tokens: the token is replaced once. If the next one is refused as well, there is no
    /// token for ten seconds.
    static let refusedTokens = Scenario(
        name: "refused tokens",
        cases: [
            FaultCase(["fault": "UNAUTHENTICATED"], .relayedSomehow(after: refusals)),
            FaultCase(["fault": "UNAUTHENTICATED", "body": "EMPTY"], .relayedSomehow(after: refusals)),
            FaultCase(["fault": "UNAUTHENTICATED", "body": "HTML"], .expired(refusals), hits: .all, lifetime: 13),
            FaultCase(nil, .relayedSomehow(after: refusals), messages: 10, every: .milliseconds(800)),
        ])

    private static let refusals: Set = ["ACCESS_TOKEN_EXPIRED", "HTTP_401", "OAUTH", "CIRCUIT_OPEN"]
}
