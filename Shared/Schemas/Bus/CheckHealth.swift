import JSON

/// `bus.health`: every service answers it. If other commands would fail now, it fails the same way: with `unavailable` while the
/// database is unreachable.
package struct CheckHealth: Command {
    package static let name = "bus.health"
    package typealias Reply = ServiceHealth

    package init() {}
}
