import ProductHarness

/// What the emulator does to its clients for a while.
struct Weather: Hashable, Sendable {
    let name: String
    /// `PUT /emulator/faults`.
    var faults: [JSONValue] = []
    /// `PUT /emulator/<section>`, for those that are not as at the start.
    var sections: [String: JSONValue] = [:]
    /// It is away, and then as at the start.
    var outage: Outage?

    struct Outage: Hashable, Sendable {
        enum End: Hashable, Sendable {
            /// SIGTERM.
            case stop
            /// SIGKILL.
            case kill
        }

        let end: End
        let length: Duration
    }

    static let calm = Weather(name: "calm")
    /// Every request is held up until all of a flood are under way.
    static let hold = Weather(name: "hold", faults: [["fault": "DELAY", "fixed_ms": 3000]])
}
