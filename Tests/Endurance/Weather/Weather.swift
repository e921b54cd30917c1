import JSON
import TestSupport

/// The emulator's faults and settings for a period.
struct Weather: Hashable, Sendable {
    let name: String
    /// `PUT /emulator/faults`.
    var faults: [JSONValue] = []
    /// `PUT /emulator/<section>`, for sections that differ from the start.
    var sections: [String: JSONValue] = [:]
    /// The emulator stops and starts again.
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
    /// Delays every request until all requests of a flood are pending.
    static let hold = Weather(name: "hold", faults: [["fault": "DELAY", "fixed_ms": 3000]])
}
