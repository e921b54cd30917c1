import Schemas
import Time

/// HTTP's `Retry-After`: seconds, or a date.
struct RetryAfter: Equatable, Sendable {
    /// The pause, clamped to the range from one second to one hour.
    let time: Milliseconds

    private static let range: ClosedRange<Milliseconds> = 1_000...3_600_000

    /// Parses the header; `nil` if it is neither seconds nor a date.
    init?(header: String, now: UnixMilliseconds) {
        let text = header.drop(while: \.isWhitespace)
        if let date = HTTPDate(text) {
            self.init(clamping: date.unixMilliseconds - now)
        } else if !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }) {
            // A number that overflows is clamped anyway.
            let seconds = Int64(text) ?? .max
            self.init(clamping: .seconds(min(seconds, Self.range.upperBound.rawValue)))
        } else {
            return nil
        }
    }

    private init(clamping time: Milliseconds) {
        self.time = min(max(time, Self.range.lowerBound), Self.range.upperBound)
    }
}
