import Base
import Schemas

/// Estimates until when FCM delivers the pop-ups that it has accepted. Pure.
///
/// FCM makes about 10,000 deliveries a second for a project, and divides them equally among the messages under way. So data that is handed
/// over while a pop-up is on its way to many phones makes the pop-up take twice as long.
struct FanOutClock: Sendable {
    /// How long data waits at most. It also bounds what a wrong number of phones can do.
    static let maxWait: Milliseconds = 30_000
    /// A shorter fan-out is not worth a second command and a second write.
    static let minLength: Milliseconds = 500

    /// The system clock, which may be set, does not matter to it.
    private var end: ContinuousClock.Instant?

    /// How long FCM takes to deliver a message.
    ///
    /// - Parameters:
    ///   - phones: How many phones it reaches, as far as is known.
    ///   - rate: FCM's deliveries a second; 0 if no data is to wait.
    /// - Returns: At most ``maxWait``; `nil` if it is less than ``minLength``.
    static func length(of phones: Int64, at rate: Int) -> Milliseconds? {
        guard rate > 0, phones > 0 else { return nil }
        let length = Milliseconds(rawValue: phones.multiplied(by: 1_000) / Int64(rate))
        return length < minLength ? nil : min(length, maxWait)
    }

    /// FCM has accepted a pop-up.
    mutating func began(_ length: Milliseconds, at instant: ContinuousClock.Instant) {
        let begin = max(end ?? instant, instant)
        end = min(begin + Duration(length), instant + Duration(Self.maxWait))
    }

    /// The time until all pop-ups are delivered, in whole milliseconds, rounded up; 0 if they are.
    func rest(at instant: ContinuousClock.Instant) -> Milliseconds {
        guard let end, end > instant else { return 0 }
        return Milliseconds(end - instant) + 1
    }
}

/// How a turn hands a message's parts to FCM.
enum FanOutStep: Hashable, Sendable {
    /// All of them, in one command.
    case together
    /// The pop-up, whose fan-out takes so long. The data waits for its end.
    case popUpFirst(Milliseconds)
    /// Nothing: the data waits for so long.
    case dataWaits(Milliseconds)

    var isPopUpFirst: Bool { if case .popUpFirst = self { true } else { false } }
}

extension Message {
    /// How its pending parts for FCM are handed over. A pop-up never waits.
    ///
    /// - Parameters:
    ///   - length: How long FCM takes to deliver it; `nil` if that is short or unknown.
    ///   - rest: The time until FCM has delivered the pop-ups under way.
    ///   - now: The system clock.
    func fanOutStep(lasting length: Milliseconds?, rest: Milliseconds, at now: UnixMilliseconds) -> FanOutStep {
        // It must not expire while it waits.
        guard let length, relay.pendingComponents.contains(.data), expires - now > FanOutClock.maxWait * 2 else {
            return .together
        }
        let popUp = relay.components.first { $0.component == .notification }
        if let popUp, popUp.state == .pending {
            // What keeps a pop-up back keeps the data back as well. But while FCM refuses it, the data must not wait for it.
            let isUntried = popUp.error.map { $0.catalogued?.acceptance == .notAsked } ?? true
            return isUntried ? .popUpFirst(length) : .together
        }
        let begin = popUp?.acceptedAt ?? due(at: now)
        // After now: the clock was set back, and the wait would have no bound.
        guard begin <= now else { return .together }
        let wait = min(rest, begin + FanOutClock.maxWait - now)
        return wait > 0 ? .dataWaits(wait) : .together
    }
}
