import Base
import TestSupport

extension Scenario {
    /// Connections that end, with one request on each.
    static let connections = Scenario(
        name: "connections of one stream",
        behaviour: ["connections": ["streams": 1, "excess": "REFUSED_STREAM"]],
        cases: [
            // The request is not processed, and there is no GOAWAY: it is sent again, at once on another connection or
            // after ten seconds.
            FaultCase(["fault": "CLOSE_CONNECTION"], .relayedSomehow(after: broken)),
            FaultCase(["fault": "CUT_CONNECTION"], .relayedSomehow(after: broken)),
            FaultCase(
                ["fault": "CLOSE_CONNECTION"], .relayedSomehow(after: broken), hits: .percent(30), messages: 8, every: pace),
            FaultCase(["fault": "CUT_CONNECTION"], .relayedSomehow(after: broken), hits: .percent(30), messages: 8, every: pace),
            // The request is processed, and the answer is lost.
            FaultCase(["fault": "LOST_REPLY", "by": "CLOSE_CONNECTION"], .mayDouble(after: broken)),
            FaultCase(["fault": "LOST_REPLY", "by": "CUT_CONNECTION"], .mayDouble(after: broken)),
            FaultCase(["fault": "LOST_REPLY"], .mayDouble(after: broken), hits: .percent(30), messages: 8, every: pace),
            FaultCase(
                ["fault": "LOST_REPLY", "by": "CLOSE_CONNECTION"], .mayDouble(after: broken), hits: .percent(30),
                messages: 8,
                every: pace),
            FaultCase(
                ["fault": "LOST_REPLY", "by": "CUT_CONNECTION"], .mayDouble(after: broken), hits: .percent(30), messages: 8,
                every: pace),
            // The server's GOAWAY says which requests it has processed.
            FaultCase(["fault": "GOAWAY"], .relayedSomehow(after: broken)),
            FaultCase(["fault": "GOAWAY_UNDONE"], .relayedSomehow(after: broken)),
        ])

    /// Storms: a share of the requests ends its connection, with all other requests on it.
    static let crowd = Scenario(
        name: "storms on shared connections", streams: 100,
        cases: [
            FaultCase(["fault": "GOAWAY"], .mayDoubleInCrowd(after: broken), hits: .percent(25), messages: 12),
            FaultCase(["fault": "GOAWAY_UNDONE"], .mayDoubleInCrowd(after: broken), hits: .percent(25), messages: 12),
            FaultCase(["fault": "CLOSE_CONNECTION"], .mayDoubleInCrowd(after: broken), hits: .percent(10), messages: 12),
            FaultCase(["fault": "CUT_CONNECTION"], .mayDoubleInCrowd(after: broken), hits: .percent(10), messages: 12),
            FaultCase(
                ["fault": "LOST_REPLY", "by": "CUT_CONNECTION"], .mayDoubleInCrowd(after: broken), hits: .percent(10),
                messages: 12),
            FaultCase(
                ["fault": "UNAVAILABLE"], .mayDoubleInCrowd(after: broken.union(["UNAVAILABLE"])), hits: .percent(20),
                messages: 12),
        ])

    /// Graceful storms, and connections that end by themselves: requests that a GOAWAY does not cover were not processed,
    /// and are sent again.
    static let limits = Scenario(
        name: "short-lived connections",
        behaviour: ["connections": ["streams": 10, "excess": "REFUSED_STREAM", "age_ms": 900, "idle_ms": 250]],
        cases: [
            FaultCase(nil, .relayedSomehow(after: broken), messages: 15, every: .milliseconds(400)),
            FaultCase(nil, .relayedSomehow(after: broken), messages: 10, every: .milliseconds(700)),
            FaultCase(nil, .relayedSomehow(after: broken), messages: 12),
            FaultCase(["fault": "GOAWAY"], .relayedSomehow(after: broken), hits: .percent(25), messages: 20, every: pace),
            FaultCase(["fault": "GOAWAY_UNDONE"], .relayedSomehow(after: broken), hits: .percent(25), messages: 20, every: pace),
        ])

    /// A server that ends the whole connection when a client opens more streams than its SETTINGS allow. A client can do that
    /// before it has read them. Pending requests may be doubled: the server does not say which it has processed.
    static let excess = Scenario(
        name: "few streams", behaviour: ["connections": ["streams": 4, "excess": "GOAWAY"]], streams: nil,
        cases: [
            FaultCase(nil, .mayDoubleInCrowd(after: broken), messages: 20),
            FaultCase(nil, .mayDoubleInCrowd(after: broken), messages: 20, every: pace),
        ])

    /// The archive's errors while the outcome of a request is unknown, including those of a busy machine.
    private static let broken: Set = ["NETWORK", "TIMEOUT", "CIRCUIT_OPEN"]
    /// Slow enough for a relay that must make a connection for nearly every request.
    private static let pace = Duration.milliseconds(500)
}
