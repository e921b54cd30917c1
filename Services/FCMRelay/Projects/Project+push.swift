import CoreMetrics
import Instruments
import Schemas
import ServiceKit
import Synchronization

extension Project {
    /// The maximum number of recipients in one group. Each group waits for its turn, so a push to many phones does not
    /// delay other sends.
    static let pushGroup = 100

    /// Sends a push to each recipient once. If another command is sending it to a recipient, this one waits for the outcome. If
    /// FCM has recently accepted it, the stored name is returned.
    ///
    /// - Parameter now: The wall clock.
    /// - Returns: The outcome for each recipient, in their order.
    func send(
        _ push: RelayPush, isUrgent: Bool, before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant,
        now: @Sendable () -> UnixMilliseconds
    ) async -> [Result<String, DeliveryError>] {
        let recipients = push.recipients
        // It does not wait for the pace: nothing is sent.
        guard let pushSender else { return recipients.map { _ in .failure(.pushNeedsServiceAccount) } }
        // A dry run sends nothing, and its result is never reused.
        let keys = push.isCheck ? nil : SendKey.keys(of: push)
        var results: [Result<String, DeliveryError>] = []
        results.reserveCapacity(recipients.count)
        for start in stride(from: 0, to: recipients.count, by: Self.pushGroup) {
            let range = start..<min(start + Self.pushGroup, recipients.count)
            let group = Array(recipients[range])
            // A group without enough time for FCM's answer might be sent twice, so it is not begun. The first group always is.
            if start > 0, ContinuousClock.now + DeliveryTimes.fcmRequestTimeout > deadline {
                results += group.map { _ in .failure(DeliveryError(.noTime)) }
                continue
            }
            if let keys {
                results += await sendOnce(
                    push, keys[range], by: pushSender, to: group, isUrgent: isUrgent, before: expiry, by: deadline, now: now)
            } else {
                results += await sendNow(
                    push, by: pushSender, to: group, isUrgent: isUrgent, before: expiry, by: deadline, now: now)
            }
        }
        return results
    }

    /// Whether the history has a recipient of this push.
    func knows(_ push: RelayPush) -> Bool {
        guard !push.isCheck else { return false }
        let keys = SendKey.keys(of: push)
        return pushHistory.withLock { history in keys.contains { history.knows($0) } }
    }

    /// The history distinguishes components. A push has none, so it is remembered as this one.
    private static let component = Component.data

    /// - Parameter keys: One for each recipient of the group.
    private func sendOnce(
        _ push: RelayPush, _ keys: ArraySlice<SendKey>, by pushSender: any PushSender, to group: [PushRecipient], isUrgent: Bool,
        before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [Result<String, DeliveryError>] {
        let keys = Array(keys)
        let decisions = pushHistory.withLock { history in
            keys.map { history.begin([Self.component], of: $0, joint: SharedOutcome.init)?.first ?? .send }
        }
        let unsent = decisions.indices.filter { if case .send = decisions[$0] { true } else { false } }
        let sent = await sendNow(
            push, by: pushSender, to: unsent.map { group[$0] }, isUrgent: isUrgent, before: expiry, by: deadline, now: now)
        for (index, result) in zip(unsent, sent) {
            remember([ComponentOutcome(component: Self.component, result: result)], of: keys[index], in: pushHistory)
        }
        var results = Dictionary(uniqueKeysWithValues: zip(unsent, sent))
        for index in decisions.indices {
            switch decisions[index] {
            case .send: break
            case .accepted(let name): results[index] = .success(name)
            case .join(let joint): results[index] = await joint.value(by: deadline) ?? .failure(.stillInFlight)
            }
        }
        return decisions.indices.compactMap { results[$0] }
    }

    private func sendNow(
        _ push: RelayPush, by pushSender: any PushSender, to group: [PushRecipient], isUrgent: Bool,
        before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [Result<String, DeliveryError>] {
        guard !group.isEmpty else { return [] }
        let topic: FCMTopic? = if case .topic(let name) = group[0] { FCMTopic(name) } else { nil }
        if let error = await messageGate.enter(
            for: topic, isAlert: isUrgent, cost: group.count, of: push.pushID, by: min(expiry, deadline))
        {
            return group.map { _ in .failure(error) }
        }
        let start = ContinuousClock.now
        let results = await pushSender.send(push, to: group, now: now(), before: expiry, by: deadline)
        counts.duration.record(since: start)
        return messageGate.leave(results, about: topic)
    }
}

extension RelayPush {
    /// Whether this is a dry run.
    fileprivate var isCheck: Bool { validateOnly == true }
}

extension DeliveryError {
    fileprivate static let pushNeedsServiceAccount = DeliveryError(
        .noServiceAccount, "a push needs FCM's HTTP v1 API, and so a service account")
}
