package import Base
import HTTPRouting
package import Schemas

/// HTTP's `Retry-After`: seconds, or a date.
package struct RetryAfter: Equatable, Sendable {
    /// The pause, clamped to the range from one second to one hour.
    package let time: Milliseconds

    private static let range: ClosedRange<Milliseconds> = 1_000...3_600_000

    /// Parses the header; `nil` if it is neither seconds nor a date.
    package init?(header: String, now: UnixMilliseconds) {
        let text = header.drop(while: \.isWhitespace)
        if let date = UnixMilliseconds(httpDate: text) {
            self.init(clamping: date - now)
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
