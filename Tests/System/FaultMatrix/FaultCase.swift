import Base
import TestSupport
import Testing

/// One row of the fault matrix: the fault of the requests for one topic, and the expected outcome of its messages.
/// Each row is run with Alerts and with Information, and with one relay and with two.
struct FaultCase: Hashable, Sendable, CustomTestStringConvertible {
    /// A rule of `PUT /emulator/faults` without its topic and its count; `nil` for no fault of this topic.
    let fault: JSONValue?
    let hits: Hits
    let end: End
    /// The number of messages of each distribution.
    var messages = 1
    /// The time between two messages.
    var period = Duration.zero
    /// The messages' `ttl` in seconds.
    var lifetime: Int64?

    /// Which requests have the fault.
    enum Hits: Hashable, Sendable {
        /// The first requests of each component.
        case first(Int)
        /// Every request.
        case all
        /// This percentage of the requests, until as many were hit as that percentage of the first attempts.
        case percent(Int)
    }

    /// The expected outcome of each message. A code is the error in `GET /message/:msi_key`, temporary or final.
    enum End: Hashable, Sendable {
        /// FCM has each component once, from the first attempt. The sender has not noticed the fault.
        case relayed
        /// FCM has each component once, after an attempt with this retryable error; not before this many seconds.
        case retried(after: String, seconds: Int = 8)
        /// FCM has each component once, after any of these errors or none.
        case relayedSomehow(after: Set<String> = [])
        /// FCM has each component, and a second copy only if its answer was lost: there are at most as many copies as faults. The
        /// phone drops them by the `msi_key`.
        case mayDouble(after: Set<String>)
        /// Like the previous one, but a fault also affects other requests on the connection: there are at most as many copies as
        /// faults times the streams of a connection, for all cases of the scenario together.
        case mayDoubleInCrowd(after: Set<String>)
        /// FCM has no component, and the message has failed with this permanent error.
        case failed(String)
        /// FCM has no component, and the message has expired with the error of the last attempt.
        case expired(Set<String>)
    }

    init(
        _ fault: JSONValue?, _ end: End, hits: Hits = .first(1), messages: Int = 1, every period: Duration = .zero,
        lifetime: Int64? = nil
    ) {
        self.fault = fault
        self.hits = hits
        self.end = end
        self.messages = messages
        self.period = period
        self.lifetime = lifetime
    }

    /// The rule for a topic whose messages have this many components.
    func rule(for topic: String, components: Int) -> JSONValue? {
        guard var rule = fault else { return nil }
        rule["topic"] = "\(topic)"
        switch hits {
        case .first(let number): rule["count"] = .integer(Int64(number * components * messages))
        case .percent(let percent):
            rule["share"] = .number("\(Double(percent) / 100)")
            rule["count"] = .integer(Int64(max(1, components * messages * percent / 100)))
        case .all: break
        }
        return rule
    }

    var testDescription: String {
        let rule = fault.map { rule in
            (["\(rule["fault"]?.string ?? "")"]
                + rule.names.filter { $0 != "fault" }.map {
                    "\($0)=\(rule[$0]?.string ?? rule[$0]?.integer.map(String.init) ?? "")"
                })
                .joined(separator: " ")
        }
        return "\(rule ?? "nothing") \(hits) → \(end)"
    }
}
