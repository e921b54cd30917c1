import FoundationEssentials

/// A moment such as `2026-11-24T12:00:00Z`, in Unix milliseconds.
func milliseconds(_ text: String) -> Int64 {
    guard let date = try? Date(text, strategy: .iso8601) else { preconditionFailure("not a moment: \(text)") }
    return Int64(date.timeIntervalSince1970 * 1_000)
}
