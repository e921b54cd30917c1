import JSON
import Schemas
import Time

/// The lifetime of access tokens, and Google's clock.
struct OAuthRules: Hashable, Sendable {
    /// In seconds.
    let tokenLife: Int64
    /// How far Google's clock is ahead of the machine's, in seconds. A negative value means behind.
    let clockOffset: Int64

    /// The time on Google's clock.
    func now() -> UnixMilliseconds { .now() + .seconds(clockOffset) }
}

extension OAuthRules: ControlSection {
    /// A year, in seconds.
    private static let maxSeconds = 31_536_000

    static let form = MessageForm("emulator.OAuth", ["token_life_s": .int32, "clock_offset_s": .int32])

    init(_ fields: ControlFields) throws {
        // Google answers 3,599: an hour, less the second that the answer took.
        tokenLife = Int64(try fields.integer("token_life_s", in: 1...Self.maxSeconds) ?? 3_599)
        clockOffset = Int64(try fields.integer("clock_offset_s", in: -Self.maxSeconds...Self.maxSeconds) ?? 0)
    }

    var document: JSONValue { ["token_life_s": .integer(tokenLife), "clock_offset_s": .integer(clockOffset)] }
}
