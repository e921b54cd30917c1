import JSON
import Schemas
import Time

/// The lifetime of access tokens, and Google's clock.
struct OAuthRules: Hashable, Sendable {
    let tokenLife: Seconds
    /// How far Google's clock is ahead of the machine's. A negative value means behind.
    let clockOffset: Seconds

    /// The time on Google's clock.
    func now() -> UnixMilliseconds { .now() + Milliseconds(clockOffset) }
}

extension OAuthRules: ControlSection {
    /// In seconds.
    private static let year = 31_536_000

    static let form = MessageForm("emulator.OAuth", ["token_life_s": .int32, "clock_offset_s": .int32])

    init(_ fields: ControlFields) throws {
        // Google answers 3,599: an hour, less the second that the answer took.
        tokenLife = try fields.seconds("token_life_s", in: 1...Self.year) ?? 3_599
        clockOffset = try fields.seconds("clock_offset_s", in: -Self.year...Self.year) ?? 0
    }

    var document: JSONValue { ["token_life_s": .integer(tokenLife.rawValue), "clock_offset_s": .integer(clockOffset.rawValue)] }
}
