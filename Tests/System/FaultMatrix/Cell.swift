import TestSupport
import Testing

/// One row of the fault matrix: what goes wrong with the requests for one topic, and what has to become of its messages.
/// There is an Alert and an Information of each, and one relay or two.
struct Cell: Hashable, Sendable, CustomTestStringConvertible {
    /// A rule of `PUT /emulator/faults` without its topic and its count; `nil` where nothing goes wrong with this topic.
    let fault: JSONValue?
    let hits: Hits
    let end: End
    /// How many messages of each distribution.
    var messages = 1
    /// The time between two of them.
    var period = Duration.zero
    /// For how many seconds a message is worth delivering.
    var lifetime: Int64?

    /// Which requests the fault happens to.
    enum Hits: Hashable, Sendable {
        /// To the first so many requests of each component.
        case first(Int)
        /// To every one.
        case all
        /// To so many of a hundred, until as many have been hit as that is of the first requests: then the storm is over.
        case percent(Int)
    }

    /// What has to become of each message. A code is what `GET /message/:msi_key` shows while it lasts, or in the end.
    enum End: Hashable, Sendable {
        /// Each component is at FCM once, at the first attempt: whoever sent it has seen nothing of the fault.
        case relayed
        /// Each component is at FCM once, after an attempt that ended with the retryable error; not before so many seconds.
        case retried(after: String, seconds: Int = 8)
        /// Each component is at FCM once, whatever was tried before: any of these errors, or none.
        case relayedSomehow(after: Set<String> = [])
        /// Each component is at FCM, and a second time at most where its acceptance was not heard: there are no more copies than
        /// faults. The phone drops them by the `msi_key`.
        case mayDouble(after: Set<String>)
        /// The same where a fault takes others along that were under way on the connection: there are no more copies than
        /// faults times the streams of a connection, all cells of the scene together.
        case mayDoubleInCrowd(after: Set<String>)
        /// Nothing is at FCM, and the message has failed with this permanent error.
        case failed(String)
        /// Nothing is at FCM, and the message has expired, with the error of the last attempt.
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

    /// The rule for a topic to which each message is so many components.
    func rule(for topic: String, components: Int) -> JSONValue? {
        guard var rule = fault else { return nil }
        rule["topic"] = "\(topic)"
        switch hits {
        case .first(let number): rule["count"] = .integer(Int64(number * components * messages))
        case .percent(let percent):
            rule["share"] = .number(Double(percent) / 100)
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
