import TestSupport

extension Scene {
    /// Connections that end, with one request on each: what becomes of that one.
    static let connections = Scene(
        name: "connections of one stream",
        behaviour: ["connections": ["streams": 1, "excess": "REFUSED_STREAM"]],
        cells: [
            // Not done, and no word about it: sent again, at once on another connection or after ten seconds.
            Cell(["fault": "CLOSE_CONNECTION"], .relayedSomehow(after: broken)),
            Cell(["fault": "CUT_CONNECTION"], .relayedSomehow(after: broken)),
            Cell(
                ["fault": "CLOSE_CONNECTION"], .relayedSomehow(after: broken), hits: .percent(30), messages: 8, every: pace),
            Cell(["fault": "CUT_CONNECTION"], .relayedSomehow(after: broken), hits: .percent(30), messages: 8, every: pace),
            // Done, and the answer is lost.
            Cell(["fault": "LOST_REPLY", "by": "CLOSE_CONNECTION"], .mayDouble(after: broken)),
            Cell(["fault": "LOST_REPLY", "by": "CUT_CONNECTION"], .mayDouble(after: broken)),
            Cell(["fault": "LOST_REPLY"], .mayDouble(after: broken), hits: .percent(30), messages: 8, every: pace),
            Cell(
                ["fault": "LOST_REPLY", "by": "CLOSE_CONNECTION"], .mayDouble(after: broken), hits: .percent(30),
                messages: 8,
                every: pace),
            Cell(
                ["fault": "LOST_REPLY", "by": "CUT_CONNECTION"], .mayDouble(after: broken), hits: .percent(30), messages: 8,
                every: pace),
            // The server says which requests it has done.
            Cell(["fault": "GOAWAY"], .relayedSomehow(after: broken)),
            Cell(["fault": "GOAWAY_UNDONE"], .relayedSomehow(after: broken)),
        ])

    /// Storms: a share of the requests takes its connection along, and whatever is under way on it.
    static let crowd = Scene(
        name: "storms on shared connections", streams: 100,
        cells: [
            Cell(["fault": "GOAWAY"], .mayDoubleInCrowd(after: broken), hits: .percent(25), messages: 12),
            Cell(["fault": "GOAWAY_UNDONE"], .mayDoubleInCrowd(after: broken), hits: .percent(25), messages: 12),
            Cell(["fault": "CLOSE_CONNECTION"], .mayDoubleInCrowd(after: broken), hits: .percent(10), messages: 12),
            Cell(["fault": "CUT_CONNECTION"], .mayDoubleInCrowd(after: broken), hits: .percent(10), messages: 12),
            Cell(
                ["fault": "LOST_REPLY", "by": "CUT_CONNECTION"], .mayDoubleInCrowd(after: broken), hits: .percent(10),
                messages: 12),
            Cell(
                ["fault": "UNAVAILABLE"], .mayDoubleInCrowd(after: broken.union(["UNAVAILABLE"])), hits: .percent(20),
                messages: 12),
        ])

    /// Gentle storms, and connections that end by themselves: whatever a GOAWAY does not cover was not done, and is sent again.
    static let limits = Scene(
        name: "short-lived connections",
        behaviour: ["connections": ["streams": 10, "excess": "REFUSED_STREAM", "age_ms": 900, "idle_ms": 250]],
        cells: [
            Cell(nil, .relayedSomehow(after: broken), messages: 15, every: .milliseconds(400)),
            Cell(nil, .relayedSomehow(after: broken), messages: 10, every: .milliseconds(700)),
            Cell(nil, .relayedSomehow(after: broken), messages: 12),
            Cell(["fault": "GOAWAY"], .relayedSomehow(after: broken), hits: .percent(25), messages: 20, every: pace),
            Cell(["fault": "GOAWAY_UNDONE"], .relayedSomehow(after: broken), hits: .percent(25), messages: 20, every: pace),
        ])

    /// A server that ends the whole connection when a client opens more streams than its SETTINGS say, which a client can do before
    /// it has read them. What was under way then may double: the server does not say what it has done.
    static let excess = Scene(
        name: "few streams", behaviour: ["connections": ["streams": 4, "excess": "GOAWAY"]], streams: nil,
        cells: [
            Cell(nil, .mayDoubleInCrowd(after: broken), messages: 20),
            Cell(nil, .mayDoubleInCrowd(after: broken), messages: 20, every: pace),
        ])

    /// What the archive says while nobody knows what became of a request, on a machine that does too much as well.
    private static let broken: Set = ["NETWORK", "TIMEOUT", "CIRCUIT_OPEN"]
    /// Slow enough for a relay that has to make a connection for nearly every request.
    private static let pace = Duration.milliseconds(500)
}
