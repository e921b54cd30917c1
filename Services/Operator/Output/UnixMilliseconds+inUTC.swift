import FoundationEssentials
import Schemas

extension UnixMilliseconds {
    /// ISO 8601 in UTC, without the fraction of the second.
    var inUTC: String { Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle()) }
}
