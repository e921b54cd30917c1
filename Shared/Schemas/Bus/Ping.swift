import JSON

/// `bus.ping`: every service answers it, to show that it is alive.
package struct Ping: Command {
    package static let name = "bus.ping"
    package typealias Reply = Done

    package init() {}
}
