import FoundationEssentials

extension Int64 {
    /// Unix milliseconds.
    package static var nowInMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
