package import Schemas

/// An item of the outbox: a message of the cube, or a push of another service.
package indirect enum OutboxItem: Hashable, Sendable {
    case message(Message)
    case push(Push)

    package var key: OutboxKey {
        switch self {
        case .message(let message): .message(message.msiKey)
        case .push(let push): .push(push.id)
        }
    }

    package var urgency: Urgency {
        switch self {
        case .message(let message): message.distribution.urgency
        case .push(let push): push.urgency
        }
    }

    package var fairnessKey: FairnessKey {
        switch self {
        case .message(let message): .topic(message.topicKey)
        case .push(let push): .named(push.fairnessKey)
        }
    }

    package var expires: UnixMilliseconds {
        switch self {
        case .message(let message): message.expires
        case .push(let push): push.expires
        }
    }

    /// The scheduled time, or the end of the delay; `nil` for at once.
    package func notBefore(at now: UnixMilliseconds) -> UnixMilliseconds? {
        switch self {
        case .message(let message): message.notBefore(at: now)
        case .push(let push): push.notBefore
        }
    }

    /// The W3C trace context of the request that logged it; `nil` for none.
    package var traceparent: String? {
        get {
            switch self {
            case .message(let message): message.traceparent
            case .push(let push): push.traceparent
            }
        }
        set {
            switch self {
            case .message(var message):
                message.traceparent = newValue
                self = .message(message)
            case .push(var push):
                push.traceparent = newValue
                self = .push(push)
            }
        }
    }

    package var record: any DeliveryRecord {
        switch self {
        case .message(let message): message.relay
        case .push(let push): push.relay
        }
    }

    /// Changes the record.
    package mutating func change(_ change: (inout any DeliveryRecord) throws -> Void) rethrows {
        switch self {
        case .message(var message):
            message.relay = try message.relay.changed(by: change)
            self = .message(message)
        case .push(var push):
            push.relay = try push.relay.changed(by: change)
            self = .push(push)
        }
    }

    /// Whether it is a message that another account must approve, and has not.
    package var needsApproval: Bool {
        guard let message, message.approval == true else { return false }
        return !message.relay.isApproved
    }

    package var message: Message? {
        if case .message(let message) = self { message } else { nil }
    }

    package var push: Push? {
        if case .push(let push) = self { push } else { nil }
    }
}

/// The key of an item.
package enum OutboxKey: Hashable, Sendable, CustomStringConvertible {
    /// By its `msi_key`.
    case message(ObjectID)
    case push(ObjectID)

    package var id: ObjectID {
        switch self {
        case .message(let id), .push(let id): id
        }
    }

    package var description: String { id.description }
}

extension DeliveryRecord {
    /// The maximum number of recorded interventions. Older ones are removed, except the one that ``isApproved`` depends on.
    private var maxTrace: Int { 20 }

    /// Records an intervention.
    package mutating func leaveTrace(
        _ action: Intervention.Action, by actor: String, at moment: UnixMilliseconds, reason: String? = nil
    ) {
        var all = (trace ?? []) + [Intervention(action: action, at: moment, by: actor, reason: reason)]
        while all.count > maxTrace {
            let decisive = all.lastIndex { $0.action == .approve || $0.action == .edit }
            all.remove(at: decisive == 0 ? 1 : 0)
        }
        trace = all
    }

    /// Holds what has not ended in restored data. It may have gone out, or been recalled, after the backup was made. So this applies to
    /// scheduled items and to those that wait for an approval as well. It is due when it expires.
    package mutating func holdAfterRestore(by actor: String, at moment: UnixMilliseconds, expires: UnixMilliseconds) {
        guard nextAttempt != nil, !isHeldByRestore else { return }
        state = .held
        lease = nil
        hold(until: expires)
        leaveTrace(.restore, by: actor, at: moment)
    }
}

/// The silent messages of one account to one topic, such as those of the canary.
package struct MessageOrigin: Hashable, Sendable {
    package let topic: TopicKey
    package let sender: String

    package static let distribution = Distribution.information

    package init(topic: TopicKey, sender: String) {
        self.topic = topic
        self.sender = sender
    }

    package func includes(_ message: Message) -> Bool {
        message.topicKey == topic && message.sender == sender && message.distribution == Self.distribution
    }
}
