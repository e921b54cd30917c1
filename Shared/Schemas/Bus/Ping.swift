import JSON

/// `bus.ping`: every service answers it, to show that it is alive.
package struct Ping: Command {
    package static let name = "bus.ping"
    package typealias Reply = Done

    package init() {}

    private enum CodingKeys: CodingKey, CaseIterable {}

    package init(from decoder: any Decoder) throws {
        _ = try StrictFields(of: decoder, as: CodingKeys.self)
    }

    package func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: CodingKeys.self)
    }
}
