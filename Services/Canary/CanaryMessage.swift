import Schemas

/// The stages and the outcome of one canary message, derived from the hub's answers. A pure value.
struct CanaryMessage: Sendable {
    /// How it ended: the last stage that it reached.
    enum Outcome: String, CaseIterable, Sendable {
        /// A phone has reported it in time.
        case received
        /// A phone has reported it after more than two intervals.
        case late
        /// The hub has not accepted it.
        case notStored = "not_stored"
        /// The hub has stored it, and FCM has not accepted it.
        case notRelayed = "not_relayed"
        /// FCM has accepted it, and no phone has reported it.
        case notReceived = "not_received"

        var isDelivered: Bool { self == .received || self == .late }
    }

    /// A stage between the post and the phone.
    enum Stage: String, CaseIterable, Sendable {
        case stored, relayed, received
    }

    /// A message that arrives after this time is late.
    private let lateAfter: Duration
    /// How long the canary waits for a message.
    let patience: Duration
    private var isRelayed = false

    init(interval: Duration) {
        lateAfter = interval * 2
        patience = interval * 5
    }

    /// Evaluates an answer of the hub.
    ///
    /// - Parameter elapsed: The time since the message was posted.
    /// - Returns: The stages that it has reached since the last answer, and its outcome if it has ended.
    mutating func update(_ progress: Progress, after elapsed: Duration) -> (reached: [Stage], outcome: Outcome?) {
        var reached: [Stage] = []
        if !isRelayed, progress.state == .relayed || progress.isReceived {
            isRelayed = true
            reached.append(.relayed)
        }
        if progress.isReceived { return (reached + [.received], isLate(after: elapsed) ? .late : .received) }
        return (reached, progress.hasFailed ? .notRelayed : nil)
    }

    func isLate(after elapsed: Duration) -> Bool { elapsed > lateAfter }

    /// The outcome if the canary stops waiting now.
    var givenUp: Outcome { isRelayed ? .notReceived : .notRelayed }

    /// The pause before the next request to the hub: short at first, so that short times are exact.
    static func pause(after elapsed: Duration) -> Duration { min(max(elapsed / 10, .milliseconds(100)), .seconds(5)) }
}
