#if canImport(Glibc)
    import Glibc
#endif

/// Milliseconds on a clock that never jumps; its zero means nothing.
typealias MonotonicMilliseconds = Int64

extension MonotonicMilliseconds {
    /// This moment.
    static func monotonicNow() -> MonotonicMilliseconds {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, from 0 to a year: enough for every timeout, and nothing can overflow with it.
    var boundedMilliseconds: Int64 {
        let year: Int64 = 365 * 86_400
        let (seconds, attoseconds) = components
        if seconds >= year { return year * 1_000 }
        if seconds < 0 || attoseconds < 0 { return 0 }
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
