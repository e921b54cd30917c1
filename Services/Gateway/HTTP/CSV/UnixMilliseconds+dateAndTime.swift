import FoundationEssentials
import Schemas

extension UnixMilliseconds {
    /// As ISO 8601 in UTC: `2025-11-21T02:40:00.123Z`.
    var dateAndTime: String {
        // The format cuts off what a Double cannot represent exactly.
        let date = Date(timeIntervalSince1970: (Double(rawValue) + 0.5) / 1_000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
