import Schemas

/// `bus.ping`: every server answers it, to show that it lives.
struct Ping: Command {
    static let name = "bus.ping"
    typealias Reply = Done

    init() {}

    private enum CodingKeys: CodingKey, CaseIterable {}

    init(from decoder: any Decoder) throws {
        _ = try StrictFields(of: decoder, as: CodingKeys.self)
    }

    func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: CodingKeys.self)
    }
}
