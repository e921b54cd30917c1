import JSON
import Time

/// A broadcast at app launch: the structure that the seeds agreed on (seed 004), and what the hub adds to it.
package struct Broadcast: Codable, Hashable, Sendable {
    package enum State: String, ClosedEnum {
        case scheduled, active, expired, withdrawn
    }

    /// The pushes that the outbox has taken.
    package struct Pushed: Codable, Hashable, Sendable {
        package var count: Int
        package var last: UnixMilliseconds

        package init(count: Int, last: UnixMilliseconds) {
            self.count = count
            self.last = last
        }
    }

    package let id: Int64
    package var type: BroadcastType
    package var epoch: BroadcastEpoch
    /// Minutes after ``epoch``, rounded up; ``expires`` is exact.
    package var expiry: Int
    package var actionData: BroadcastActionData
    package var channels: [ObjectID]?
    package var condition: String?
    /// Minutes.
    package var repetition: Int?
    /// The default language: phones that have no texts in their own show this one.
    package var language: String
    package var starts: UnixMilliseconds
    package var expires: UnixMilliseconds
    /// 1 for a new one; each edit and the withdrawal add 1.
    package var version: Int64
    package let sender: String
    package let created: UnixMilliseconds
    package var changed: UnixMilliseconds
    package var withdrawn: UnixMilliseconds?
    package var pushed: Pushed?
    /// At the time of an answer; `nil` in the store.
    package var state: State?

    /// A new one, or what an edit makes of one.
    ///
    /// - Parameters:
    ///   - created: `nil` for now.
    ///   - now: It begins then if the draft has no beginning.
    package init(
        _ draft: BroadcastDraft, id: Int64, language: String, sender: String, created: UnixMilliseconds? = nil,
        now: UnixMilliseconds
    ) {
        self.id = id
        self.language = language
        self.sender = sender
        self.created = created ?? now
        changed = now
        version = 1
        type = draft.type
        actionData = draft.actionData
        (starts, expires) = draft.times(now: now)
        epoch = draft.epoch ?? BroadcastEpoch(starts)
        expiry = Self.minutes(expires - starts)
        channels = draft.channels
        condition = draft.condition
        repetition = draft.repetition
    }

    /// The next version, by an edit.
    package func edited(_ draft: BroadcastDraft, language: String, now: UnixMilliseconds) -> Broadcast {
        var edited = Broadcast(draft, id: id, language: language, sender: sender, created: created, now: now)
        edited.version = version + 1
        edited.pushed = pushed
        return edited
    }

    private static func minutes(_ time: Milliseconds) -> Int { Int((time.rawValue + 59_999) / 60_000) }

    package func state(at now: UnixMilliseconds) -> State {
        if withdrawn != nil { return .withdrawn }
        return now < starts ? .scheduled : now < expires ? .active : .expired
    }

    /// For an answer.
    package func withState(at now: UnixMilliseconds) -> Broadcast {
        var stated = self
        stated.state = state(at: now)
        return stated
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, type, epoch, expiry, channels, condition, language, starts, expires, version, sender, created, changed
        case withdrawn, pushed, state
        case actionData = "actiondata"
        case repetition = "repeat"
    }
}

/// A broadcast as phones have it.
package struct PhoneBroadcast: Codable, Hashable, Sendable {
    package let id: Int64
    package let type: BroadcastType
    package let epoch: BroadcastEpoch
    /// Minutes.
    package let expiry: Int
    package let actionData: BroadcastActionData
    package let channels: [ObjectID]?
    package let condition: String?
    package let language: String
    package let starts: UnixMilliseconds
    package let expires: UnixMilliseconds
    package let version: Int64

    package init(_ broadcast: Broadcast) {
        id = broadcast.id
        type = broadcast.type
        epoch = broadcast.epoch
        expiry = broadcast.expiry
        actionData = broadcast.actionData
        channels = broadcast.channels
        condition = broadcast.condition
        language = broadcast.language
        starts = broadcast.starts
        expires = broadcast.expires
        version = broadcast.version
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, type, epoch, expiry, channels, condition, language, starts, expires, version
        case actionData = "actiondata"
    }
}

/// A broadcast that was withdrawn before its expiry: phones remove it.
package struct WithdrawnBroadcast: Codable, Hashable, Sendable {
    package let id: Int64
    package let version: Int64
    /// When it would have expired. Until then phones remember the withdrawal.
    package let expires: UnixMilliseconds

    package init(_ broadcast: Broadcast) {
        id = broadcast.id
        version = broadcast.version
        expires = broadcast.expires
    }

    package init(id: Int64, version: Int64, expires: UnixMilliseconds) {
        self.id = id
        self.version = version
        self.expires = expires
    }
}
