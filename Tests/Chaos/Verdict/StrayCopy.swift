import ProductHarness

/// A send of which the archive does not know that FCM accepted it, so that the component may have been sent again.
///
/// How far FCM's answer came says who can have lost it, and when. Nothing else may double a component.
struct StrayCopy: Hashable, Sendable {
    enum Rule: String, Hashable, Sendable {
        /// A relay heard it, and the archive did not: that relay or a message log was killed, or frozen for so long that their
        /// connection was given up, or the message's lease; or the database was frozen for that long.
        case outcomeLost = "the relay's outcome did not reach the archive"
        /// A relay gave it up soon after it had expired, as it has to, and FCM had it all the same: it was slow, or the way to it.
        case expiredOnTheWay = "it expired on its way to FCM"
        /// A relay gave it up: the emulator went away or was frozen, the way to it broke, or the relay itself was frozen until it was
        /// too late.
        case answerLost = "FCM's answer did not reach the relay"
        /// A relay that had taken it up said no more: it was killed.
        case relayEnded = "the relay ended before FCM's answer"
        /// No relay that had taken it up is without an answer.
        case sentByNobody = "FCM has it from nobody"
    }

    let send: AcceptedSend
    let rule: Rule
    /// The relays that can have sent it.
    private let relays: Set<Part>
    /// When the relay took it up, Unix milliseconds, or the earliest that it can have.
    private let begin: Int64
    /// When a relay heard FCM's answer, or gave it up, Unix milliseconds.
    private let end: Int64?

    init(_ send: AcceptedSend, of message: ArchivedMessage, _ evidence: Evidence) {
        self.send = send
        let clock = MachineClock(evidence.disturbances)
        let begin = clock.real(send.taken.map { $0 * 1_000 } ?? message.due)
        self.begin = begin
        // It may have been given up before FCM came to it.
        let failure = evidence.failures[send.component]?.filter { $0.time >= begin }.min { $0.time < $1.time }
        let unfinished = evidence.unfinished[send.component] ?? []
        if let hearing = evidence.hearings[send.name] {
            (rule, relays, end) = (.outcomeLost, [hearing.relay], hearing.time)
        } else if let failure {
            let isExpired = (message.expires...message.expires + Self.timeAfterExpiry).contains(failure.time)
            (rule, relays, end) = (isExpired ? .expiredOnTheWay : .answerLost, [failure.relay], failure.time)
        } else {
            (rule, relays, end) = (unfinished.isEmpty ? .sentByNobody : .relayEnded, unfinished, nil)
        }
    }

    /// How much longer than the evidence shows a component may be under way, in milliseconds: before the relay takes it up, in
    /// the relay's queue; after the relay has heard FCM's answer, until that is in the archive.
    static let margin: Int64 = 1_000
    /// The longest that a request to FCM takes, in milliseconds.
    static let requestTimeout: Int64 = 10_000
    /// How long after the expiry of a message a relay gives it up, in milliseconds: a second, and more on a busy machine.
    static let timeAfterExpiry: Int64 = 5_000
    /// How long a freeze has to be, in milliseconds, for a connection of the bus to be given up: silence of three seconds, of which
    /// one may have passed before.
    static let silence: Int64 = 1_800
    /// How long a freeze has to be, in milliseconds, for a message's lease of 30 s to end that was taken before.
    private static let lease: Int64 = 20_000

    /// When the component was under way, Unix milliseconds.
    private var underWay: ClosedRange<Int64> {
        begin - Self.margin...max(send.received, end.map { $0 + Self.margin } ?? send.received + Self.requestTimeout)
    }

    /// Whether it needs no disturbance to be explained.
    var isHarmless: Bool { rule == .expiredOnTheWay }

    /// The disturbance that doubled it: of those that can have, while it was under way, the one that began last; `nil` where there
    /// is none, and the copy is unexplained.
    func cause(among disturbances: [Disturbance]) -> Disturbance? {
        let underWay = underWay
        return disturbances.filter { $0.overlaps(underWay) && isExcuse($0) }.max { $0.began < $1.began }
    }

    /// A service that is told to stop finishes what it has begun, so that a restart excuses nothing; the emulator alone ends its
    /// connections after a second. Neither does a full disk, a clock that is set, or a socket that is gone.
    private func isExcuse(_ disturbance: Disturbance) -> Bool {
        let part = disturbance.part
        return switch (rule, disturbance.deed) {
        case (.outcomeLost, .kill): relays.contains(part) || Part.messageLogs.contains(part)
        case (.outcomeLost, .cutPower), (.relayEnded, .cutPower): part == .machine
        case (.outcomeLost, .freeze):
            // Until the database is back the message log keeps the outcome, and then writes it down, as long as it has the lease.
            part == .database && disturbance.length >= Self.lease
                || (relays.contains(part) || Part.messageLogs.contains(part)) && disturbance.length >= Self.silence
        case (.answerLost, .kill), (.answerLost, .restart): part == .emulator
        case (.answerLost, .freeze): part == .emulator || relays.contains(part)
        case (.answerLost, .silenceConnections), (.answerLost, .cutOff), (.answerLost, .hangResolver): relays.contains(part)
        case (.relayEnded, .kill): relays.contains(part)
        default: false
        }
    }
}

extension StrayCopy: CustomStringConvertible {
    var description: String {
        let taken = send.taken.map { "\($0) s" } ?? "an unknown time"
        let answer = end.map { " until \($0)" } ?? ""
        return
            "\(rule.rawValue): \(send.component) as \(send.name), taken up at \(taken), at FCM at \(send.received), under way by "
            + "\(relays.map(\.rawValue).sorted())\(answer)"
    }
}
