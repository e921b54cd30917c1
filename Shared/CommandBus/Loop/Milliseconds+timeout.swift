import Time

extension Milliseconds {
    /// Rounds up; from 0 to ``year``, so that nothing can overflow with it.
    init(timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        if seconds >= Self.year.rawValue / 1_000 {
            self = .year
        } else if seconds < 0 || attoseconds < 0 {
            self = .zero
        } else {
            self.init(rawValue: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }

    /// Longer than every timeout.
    static let year: Milliseconds = 31_536_000_000
}
