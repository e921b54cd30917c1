import ServiceKit
import TestSupport

/// A send that FCM accepted and the archive does not know as accepted, so that the component may have been sent again.
///
/// How far FCM's answer came shows which part can have lost it, and when. Nothing else may double a component.
struct StrayCopy: Hashable, Sendable {
    enum Rule: String, Hashable, Sendable {
        /// A relay received the answer, and the archive did not. The relay or a message log was killed, or was frozen until their
        /// connection or the message's lease ended; or the database was frozen that long.
        case outcomeLost = "the relay's outcome did not reach the archive"
        /// A relay gave up soon after the expiry, as it must. FCM has the component anyway, because FCM or the
        /// connection was slow.
        case expiredOnTheWay = "it expired on its way to FCM"
        /// A relay gave up: the emulator was stopped or frozen, the connection broke, or the relay itself was frozen
        /// until the timeout.
        case answerLost = "FCM's answer did not reach the relay"
        /// A relay was sending it and was killed.
        case relayEnded = "the relay ended before FCM's answer"
        /// Every relay that was sending it has an answer. A relay that was killed at that moment may have lost its last log lines.
        case noSender = "no relay was waiting for FCM's answer"
    }

    let send: AcceptedSend
    let rule: Rule
    /// The relays that may have sent it.
    private let relays: Set<Part>
    /// The relays that ended while they were sending the component. If another one has given up afterwards, either can have sent this copy.
    private let unfinished: Set<Part>
    /// When the relay started to send it, or the earliest possible time, in Unix milliseconds.
    private let begin: Int64
    /// When a relay received FCM's answer or gave up, in Unix milliseconds.
    private let end: Int64?
    /// How long the database may take to store that.
    private let storing: Int64

    init(_ send: AcceptedSend, of message: ArchivedMessage, _ evidence: Evidence) {
        self.send = send
        storing = evidence.storing
        let clock = MachineClock(evidence.injectedFaults)
        let begin = clock.real(send.taken.map { $0 * 1_000 } ?? message.due)
        self.begin = begin
        // The relay may have given up before FCM processed it.
        let failure = evidence.failures[send.component]?.filter { $0.time >= begin }.min { $0.time < $1.time }
        unfinished = evidence.unfinished[send.component] ?? []
        if let hearing = evidence.acceptances[send.name] {
            (rule, relays, end) = (.outcomeLost, [hearing.relay], hearing.time)
        } else if let failure {
            let isExpired = (message.expires...message.expires + Self.timeAfterExpiry).contains(failure.time)
            (rule, relays, end) = (isExpired ? .expiredOnTheWay : .answerLost, [failure.relay], failure.time)
        } else {
            (rule, relays, end) = (unfinished.isEmpty ? .noSender : .relayEnded, unfinished, nil)
        }
    }

    /// How much longer a component may be in flight than the evidence shows, in milliseconds: before, in the relay's queue;
    /// after, until FCM's answer is in the archive.
    static let margin: Int64 = 1_000
    /// The timeout of a request to FCM, in milliseconds.
    static let requestTimeout = Int64(DeliveryTimes.fcmRequestTimeout / .milliseconds(1))
    /// How long after a message's expiry a relay gives up, in milliseconds: a second, and more on a busy machine.
    static let timeAfterExpiry: Int64 = 5_000
    /// How long a relay's log line can be in memory only, in milliseconds: 2, and more on a busy machine.
    static let unwrittenLog: Int64 = 100
    /// The minimum freeze that breaks a connection of the bus, in milliseconds. A connection breaks after three seconds of silence,
    /// and one of them may have passed before the freeze.
    static let silence: Int64 = 1_800
    /// How long a database may take from its start until the message log has stored what waited, on a busy machine, in milliseconds.
    static let recovery: Int64 = 60_000
    /// The minimum freeze that ends an earlier lease of 35 s, in milliseconds.
    private static let lease: Int64 = 20_000
    /// How long a message log waits for the Web Push service, to which it hands a message together with FCM, in milliseconds.
    private static let otherTransport = Int64(DeliveryTimes.relayTimeout / .milliseconds(1))

    /// When the component was in flight, in Unix milliseconds.
    private var inFlight: ClosedRange<Int64> {
        begin - Self.margin...max(send.received, end.map { $0 + Self.margin } ?? send.received + Self.requestTimeout)
    }

    /// While nothing can be stored, and until the database has caught up, the outcome waits in the message log. It also waits for the Web
    /// Push service, whose outcome is stored together with it.
    private func inFlight(during injectedFaults: [InjectedFault]) -> ClosedRange<Int64> {
        guard rule == .outcomeLost else { return inFlight }
        let inFlight = self.inFlight.lowerBound...max(self.inFlight.upperBound, self.end.map { $0 + storing } ?? 0)
        let beforeOutage = inFlight.lowerBound - Self.recovery...inFlight.upperBound
        let outages = injectedFaults.filter { ($0.part == .database || $0.action == .fillDisk) && $0.overlaps(beforeOutage) }
        let end = outages.map { $0.ended + Self.recovery }.max() ?? 0
        let isKept = injectedFaults.contains { Part.webPush.contains($0.part) && $0.overlaps(inFlight) }
        let kept = isKept ? self.end.map { $0 + Self.otherTransport + storing } ?? 0 : 0
        return inFlight.lowerBound...max(inFlight.upperBound, end, kept)
    }

    /// Whether it is explained without an injected fault.
    var isHarmless: Bool { rule == .expiredOnTheWay }

    /// The injected fault that doubled it: of the possible ones while it was in flight, the one that began last. `nil` if there is
    /// none; then the copy is unexplained.
    func cause(among injectedFaults: [InjectedFault]) -> InjectedFault? {
        let inFlight = inFlight(during: injectedFaults)
        return injectedFaults.filter { $0.overlaps(inFlight) && canDouble($0) }.max { $0.began < $1.began }
    }

    /// Whether an injected fault can double a component. A stopping service finishes its work, so a restart cannot, except for the
    /// emulator, which ends its connections after a second. A full disk, a clock step, or a removed socket cannot either.
    private func canDouble(_ injected: InjectedFault) -> Bool {
        let part = injected.part
        return switch (rule, injected.action) {
        case (.outcomeLost, .kill): relays.contains(part) || Part.messageLogs.contains(part)
        case (.outcomeLost, .cutPower), (.relayEnded, .cutPower): part == .machine
        case (.outcomeLost, .freeze):
            // During an outage of the database the message log keeps the outcome, and stores it afterwards if it
            // still has the lease.
            part == .database && injected.length >= Self.lease
                || (relays.contains(part) || Part.messageLogs.contains(part)) && injected.length >= Self.silence
        case (.answerLost, .kill): part == .emulator || unfinished.contains(part)
        case (.answerLost, .cutPower) where part == .machine: !unfinished.isEmpty
        case (.answerLost, .restart): part == .emulator
        case (.answerLost, .freeze): part == .emulator || relays.contains(part)
        case (.answerLost, .silenceConnections), (.answerLost, .cutOff), (.answerLost, .hangResolver): relays.contains(part)
        case (.relayEnded, .kill): relays.contains(part)
        // A relay logs a line before it sends. If that line was lost, FCM got the copy when the relay ended.
        case (.noSender, .kill): Part.relays.contains(part) && reachedFCM(atEndBy: injected)
        case (.noSender, .cutPower): part == .machine && reachedFCM(atEndBy: injected)
        default: false
        }
    }

    private func reachedFCM(atEndBy injected: InjectedFault) -> Bool {
        (injected.began - Self.unwrittenLog...injected.began + Self.margin).contains(send.received)
    }
}

extension StrayCopy: CustomStringConvertible {
    var description: String {
        let taken = send.taken.map { "\($0) s" } ?? "an unknown time"
        let answer = end.map { " until \($0)" } ?? ""
        return
            "\(rule.rawValue): \(send.component) as \(send.name), taken up at \(taken), at FCM at \(send.received), under way by "
            + "\(relays.map(\.name).sorted())\(answer)"
    }
}
