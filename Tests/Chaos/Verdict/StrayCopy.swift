import ProductHarness

/// A send of which the archive does not know that FCM accepted it, so that the component may have been sent again.
struct StrayCopy: Hashable, Sendable {
    /// By which way what FCM answered was lost. Nothing else may double a component.
    enum Rule: String, Hashable, Sendable {
        /// FCM stored it, and no relay heard so: the emulator or a relay was killed or frozen in between.
        case answerLost = "FCM's answer did not reach the relay"
        /// A relay heard it, and the archive did not: that relay, a message log or the database was killed or frozen in
        /// between.
        case outcomeLost = "the relay's outcome did not reach the archive"
    }

    let send: AcceptedSend
    let hearing: Hearing?

    init(_ send: AcceptedSend, hearing: Hearing?) {
        self.send = send
        self.hearing = hearing
    }

    var rule: Rule { hearing == nil ? .answerLost : .outcomeLost }

    /// How much longer than the evidence shows a component may be under way, in milliseconds: before the relay takes it up, in
    /// the relay's queue; after the relay or FCM has answered, until that has arrived.
    static let margin: Int64 = 1_000
    /// The longest that a request to FCM takes, in milliseconds: for a send that does not say when it was begun.
    static let longestRequest: Int64 = 10_000

    /// When the component was under way, Unix milliseconds.
    private var underWay: ClosedRange<Int64> {
        let begin = send.taken.map { $0 * 1_000 } ?? send.received - Self.longestRequest
        return begin - Self.margin...(hearing?.time ?? send.received) + Self.margin
    }

    /// The disturbance that doubled it: of those of a suspect while it was under way, the one that began last; `nil` where there is
    /// none, and the copy is unexplained.
    func cause(among disturbances: [Disturbance]) -> Disturbance? {
        let suspects = hearing.map { Part.messageLogs + [.database, $0.relay] } ?? Part.sending
        let underWay = underWay
        return disturbances.filter { disturbance in
            suspects.contains(disturbance.part) && Self.isExcuse(disturbance) && disturbance.overlaps(underWay)
        }.max { $0.began < $1.began }
    }

    /// Whether what was done to a part can lose what it has under way. A service that is told to stop finishes what it has begun,
    /// so that a restart excuses nothing; the emulator alone ends its connections after a second.
    private static func isExcuse(_ disturbance: Disturbance) -> Bool {
        disturbance.deed != .restart || disturbance.part == .emulator
    }
}

extension StrayCopy: CustomStringConvertible {
    var description: String {
        let heard = hearing.map { ", heard by \($0.relay.rawValue) at \($0.time)" } ?? ""
        return
            "\(rule.rawValue): \(send.component) as \(send.name), taken up at \(send.taken.map { "\($0) s" } ?? "an unknown time"), "
            + "at FCM at \(send.received)\(heard)"
    }
}
