import Archive
import Base
import Logging
import Schemas
import ServiceKit
import Synchronization

/// Pop-ups before data: FCM delivers a pop-up to many phones sooner if it has nothing else to deliver.
extension Outbox {
    /// How a turn hands an item's parts to FCM.
    func fanOutStep(of item: OutboxItem) async -> FanOutStep {
        let rate = fanOutRate.value
        guard rate > 0, let message = item.message, message.distribution == .alert || fanOutRest > 0 else { return .together }
        let phones = await reaches.phones(of: message.topicKey)
        return message.fanOutStep(lasting: FanOutClock.length(of: phones, at: rate), rest: fanOutRest, at: .now)
    }

    /// The time until FCM has delivered the pop-ups under way.
    private var fanOutRest: Milliseconds { fanOuts.withLock { $0.rest(at: .now) } }

    /// The wait of a message's data after a turn's attempts.
    ///
    /// - Returns: `nil` if it does not wait, or if the pop-up is still to be sent. Then the next attempt may have both.
    func dataWait(at step: FanOutStep, after attempts: [AttemptOutcome], of item: OutboxItem) -> Milliseconds? {
        switch step {
        case .together: return nil
        case .dataWaits(let wait): return wait
        case .popUpFirst(let length):
            let popUp = attempts.flatMap(\.results).first { item.isPopUp($0.part) }
            guard let popUp, popUp.isFinal else { return nil }
            if case .success = popUp.result { fanOuts.withLock { $0.began(length, at: .now) } }
            return fanOutRest
        }
    }

    /// Has an item claimed in time whose data waits. The wait is stored by now.
    func expectData(of item: OutboxItem, after wait: Milliseconds) {
        logger.debug("the data waits for pop-ups", metadata: ["milliseconds": "\(wait)"])
        state.withLock { $0.willBeDue(item.urgency, at: .now + wait) }
    }
}

extension AttemptOutcome {
    /// The data is not handed over yet.
    static func dataWaits(_ wait: Milliseconds) -> AttemptOutcome {
        AttemptOutcome(.fcm, .unreachable(DeliveryError(.fanOut, retryAfter: wait)))
    }
}

extension OutboxItem {
    fileprivate func isPopUp(_ part: Int) -> Bool { message?.relay.components[part].component == .notification }

    /// The parts that a transport is still to send.
    ///
    /// - Parameter isPopUpAlone: Whether a message's data waits.
    func parts(for transport: PushTransport, isPopUpAlone: Bool) -> [Int] {
        let pending = record.pendingParts(of: transport)
        guard isPopUpAlone, let message else { return pending }
        return pending.filter { message.relay.components[$0].component != .data }
    }
}
