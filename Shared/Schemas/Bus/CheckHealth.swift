import JSON

/// `bus.health`: every service answers it. If other commands would fail now, it fails the same way: with `unavailable` while the
/// database is unreachable.
package struct CheckHealth: Command {
    package static let name = "bus.health"
    package typealias Reply = ServiceHealth

    package init() {}

    private enum CodingKeys: CodingKey, CaseIterable {}

    package init(from decoder: any Decoder) throws {
        _ = try StrictFields(of: decoder, as: CodingKeys.self)
    }

    package func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: CodingKeys.self)
    }
}
