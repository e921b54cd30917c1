import Schemas

/// HTTP's `Retry-After`: seconds, or a date.
struct RetryAfter: Equatable, Sendable {
    /// The pause, clamped to the range from one second to one hour.
    let milliseconds: Int64

    private static let range: ClosedRange<Int64> = 1_000...3_600_000

    /// Parses the header; `nil` if it is neither seconds nor a date.
    init?(header: String, now: UnixMilliseconds) {
        let text = header.drop(while: \.isWhitespace)
        if let date = HTTPDate(text) {
            self.init(clamping: date.unixMilliseconds - now)
        } else if !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }) {
            // A number that overflows is clamped anyway.
            let seconds = Int64(text) ?? .max
            self.init(clamping: min(seconds, Self.range.upperBound) * 1_000)
        } else {
            return nil
        }
    }

    private init(clamping milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Self.range.lowerBound), Self.range.upperBound)
    }
}
