import FoundationEssentials
import Base

/// The time at which a broadcast begins, in the seed's format `2016-08-29T02:40:33+0530`. It keeps its offset from UTC. `Z` and an
/// offset with a colon are read as well.
package struct BroadcastEpoch: Hashable, Sendable {
    /// In the seed's format.
    package let text: String
    package let moment: UnixMilliseconds

    /// - Parameter offset: Local time's difference from UTC in seconds; whole minutes count.
    package init(_ moment: UnixMilliseconds, offset: Int = 0) {
        let minutes = Self.wholeMinutes(offset)
        self.moment = UnixMilliseconds(rawValue: moment.seconds * 1_000)
        text = Self.format(self.moment, minutes: minutes)
    }

    private static func wholeMinutes(_ seconds: Int) -> Int { seconds / 60 }

    private static func format(_ moment: UnixMilliseconds, minutes: Int) -> String {
        // The library writes "Z" for UTC, where the seed's format has an offset. So it writes the local time, and the offset is ours.
        let local = moment + Milliseconds(rawValue: Int64(minutes) * 60_000)
        let written = Date(local).formatted(style).dropLast()
        let size = minutes.magnitude
        let offset = [size / 60, size % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
        return "\(written)\(minutes < 0 ? "-" : "+")\(offset)"
    }

    private static let style = Date.ISO8601FormatStyle(
        dateSeparator: .dash, dateTimeSeparator: .standard, timeSeparator: .colon, timeZoneSeparator: .omitted,
        includingFractionalSeconds: false, timeZone: .gmt)
}

extension BroadcastEpoch: TextCodable {
    package init?(_ description: String) {
        // The library reads also dates that do not exist, and ignores what follows. Written again, a valid text is the same.
        guard let normal = Self.withPlainOffset(description), let minutes = Self.offset(normal.suffix(5)),
            let date = try? Self.style.parse(normal)
        else { return nil }
        let moment = date.unixMilliseconds
        guard Self.format(moment, minutes: minutes) == normal, moment.rawValue >= 0 else { return nil }
        self.moment = moment
        text = normal
    }

    package var description: String { text }

    package static let expected = "a time such as 2016-08-29T02:40:33+0530"
    package static let pattern = #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:?\d\d|Z)$"#
    package static let example = "2016-08-29T02:40:33+0530"

    /// The text with its offset as `+0530`; `nil` if it has none.
    private static func withPlainOffset(_ text: String) -> String? {
        guard text.utf8.count <= 30 else { return nil }
        if text.hasSuffix("Z") { return text.dropLast() + "+0000" }
        let offset = text.suffix(6)
        guard offset.dropFirst(3).first == ":" else { return text }
        return text.dropLast(6) + offset.filter { $0 != ":" }
    }

    /// The minutes of an offset such as `+0530`; `nil` if it is none. `-0000` is no offset that the format writes.
    private static func offset(_ text: Substring) -> Int? {
        guard text.count == 5, let sign = text.first, sign == "+" || sign == "-",
            text.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), let hours = Int(text.dropFirst().prefix(2)),
            let minutes = Int(text.suffix(2)), hours <= 18, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (sign == "-" ? -1 : 1)
    }
}
