import CoreMetrics
import Instruments

/// What came of a message or a status, for the metrics.
enum SendOutcome: String {
    case sent, repeated, refused, limited

    func count() { Instrument.messagingSends.counter(["outcome": rawValue]).increment() }
}

/// What came of a fetch of messages, for the metrics.
enum FetchOutcome: String {
    case news, prompted, poll, limited

    func count() { Instrument.messagingFetches.counter(["outcome": rawValue]).increment() }
}
