import CoreMetrics
import Instruments

/// Counts the requests that a server refuses before a handler runs, by reason.
struct RefusedRequests: Sendable {
    enum Reason: String, CaseIterable, Sendable {
        /// Not a header and a payload, or a header that cannot be read.
        case malformed
        case tooLarge = "too_large"
        case unknownCommand = "unknown_command"
        /// Its deadline passed before the work began.
        case deadlineExceeded = "deadline_exceeded"
        /// Too many requests are under way.
        case overloaded
        /// The service is stopping.
        case stopping
        /// The process did not run for a while.
        case paused
    }

    /// All from the start, so that an increase from 0 is seen.
    private let counters = Dictionary(
        uniqueKeysWithValues: Reason.allCases.map { ($0, Instrument.busRefusedRequests.counter(["reason": $0.rawValue])) })

    func count(_ reason: Reason) {
        counters[reason]?.increment()
    }
}
