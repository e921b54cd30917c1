import Schemas

/// How long access tokens live, and by which clock.
struct OAuthRules: Hashable, Sendable {
    /// In seconds.
    let tokenLife: Int64
    /// How far Google's clock is ahead of the machine's, in seconds; behind it, if negative.
    let clockOffset: Int64

    /// What Google's clock shows.
    func now() -> UnixMilliseconds { .now() + clockOffset * 1_000 }
}

extension OAuthRules: ControlSection {
    /// A year, in seconds.
    private static let longest = 31_536_000

    static let form = MessageForm("emulator.OAuth", ["token_life_s": .int32, "clock_offset_s": .int32])

    init(_ fields: ControlFields) throws {
        // Google answers an hour, less the second that it took.
        tokenLife = Int64(try fields.integer("token_life_s", in: 1...Self.longest) ?? 3_599)
        clockOffset = Int64(try fields.integer("clock_offset_s", in: -Self.longest...Self.longest) ?? 0)
    }

    var document: JSONValue { ["token_life_s": .integer(tokenLife), "clock_offset_s": .integer(clockOffset)] }
}
