import Schemas
import Base

/// What `msi status` knows about the canary.
enum CanaryState: Sendable {
    /// The settings name no canary.
    case notSetUp
    /// - Parameter interval: The time between two of its messages.
    case known(CanaryMessages?, interval: Seconds)
    /// - Parameter problem: Why its state is not known.
    case unknown(problem: String)

    var isSetUp: Bool {
        if case .notSetUp = self { false } else { true }
    }

    /// `nil` if it is not known, or has sent nothing that is still in the archive.
    var messages: CanaryMessages? {
        if case .known(let messages, _) = self { messages } else { nil }
    }

    var problem: String? {
        if case .unknown(let problem) = self { problem } else { nil }
    }

    /// Why it counts as silent; `nil` if it does not.
    func silence(at now: UnixMilliseconds) -> String? {
        guard case .known(let messages, let interval) = self else { return nil }
        guard let messages else { return "canary: silent: it has sent nothing in the last hour; is msi-canary running?" }
        return messages.silence(at: now, interval: interval)
    }
}

/// What the archive says about the messages of the canary.
struct CanaryMessages: Encodable, Hashable, Sendable {
    /// After this many intervals without a reported message the canary is silent, as for the alert MSICanarySilent.
    private static let maxSilentIntervals: Int64 = 5

    let key: ObjectID
    /// When the last one was posted.
    let posted: UnixMilliseconds
    let state: RelayState
    /// The milliseconds from the post until FCM, and the Web Push service, had accepted the last one; `nil` before.
    let relayedAfter: Int64?
    /// When the last one was posted that a phone has reported; `nil` if none has.
    let lastReceived: UnixMilliseconds?
    /// How many of the ``recent`` messages a phone has reported.
    let received: Int
    let recent: Int
    /// The milliseconds from a post until its push arrived at the canary, as its last message says; `nil` if none arrives.
    let pushAfter: Int64?
    /// Why no push arrives at the canary. Also `nil` if it has no Web Push subscription.
    let pushProblem: String?
    /// When the first of the ``recent`` messages was posted.
    private let firstPosted: UnixMilliseconds
    /// The shortest time between two of the ``recent`` messages that follow each other; `nil` with fewer than two.
    private let minPause: Milliseconds?

    private enum CodingKeys: String, CodingKey {
        case posted, state, received, recent
        case key = "msi_key"
        case relayedAfter = "relayed_after_ms"
        case lastReceived = "last_received"
        case pushAfter = "push_after_ms"
        case pushProblem = "push_problem"
    }

    /// - Parameter messages: The newest first.
    /// - Returns: `nil` without a message.
    init?(_ messages: [Message]) {
        guard let last = messages.first, let first = messages.last else { return nil }
        (key, posted, state, firstPosted) = (last.msiKey, last.timestamp, last.relay.state, first.timestamp)
        let accepted = last.relay.components.compactMap(\.acceptedAt).max() ?? last.relay.accepted
        relayedAfter = accepted.map { max(0, ($0 - last.timestamp).rawValue) }
        let reported = messages.filter { ($0.receipts?.received ?? 0) > 0 }
        lastReceived = reported.first?.timestamp
        (received, recent) = (reported.count, messages.count)
        switch CanaryText(last.message)?.push {
        case .arrived(let time): (pushAfter, pushProblem) = (time.rawValue, nil)
        case .missing(let reason): (pushAfter, pushProblem) = (nil, reason)
        case nil: (pushAfter, pushProblem) = (nil, nil)
        }
        minPause = zip(messages, messages.dropFirst()).map { $0.timestamp - $1.timestamp }.min()
    }

    /// Until a first message was reported, the silence counts from the first post.
    ///
    /// - Parameter interval: The interval in this machine's settings. The canary may have a longer one, on another machine.
    fileprivate func silence(at now: UnixMilliseconds, interval: Seconds) -> String? {
        let silent = now - (lastReceived ?? firstPosted)
        let interval = max(Milliseconds.seconds(interval.rawValue), minPause ?? .zero)
        guard silent > Milliseconds(rawValue: interval.rawValue * Self.maxSilentIntervals) else { return nil }
        guard lastReceived != nil else {
            return "canary: silent: its phone has reported none of the last \(recent) messages, in \(silent.rounded)"
        }
        return "canary: silent: its phone has reported no message since one of \(silent.rounded) ago"
    }
}
