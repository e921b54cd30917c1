package import Base

/// A broadcast at app launch: the structure that the seeds agreed on (seed 004), and what the hub adds to it.
package struct Broadcast: Codable, Hashable, Sendable {
    package enum State: String, ClosedEnum {
        case scheduled, active, expired, withdrawn
    }

    /// The pushes that were given to the outbox.
    package struct Pushed: Codable, Hashable, Sendable {
        /// How many the outbox has taken.
        package var count: Int
        /// When it took the last one, or refused it.
        package var last: UnixMilliseconds
        /// Where the last one is on its way to FCM; of several topics the worst. Only in the answer about a single broadcast, and
        /// absent while the message log does not answer.
        package var state: RelayState?
        /// Why the outbox refused the last one for a topic, or the error of its last attempt at FCM.
        package var failed: String?

        package init(count: Int, last: UnixMilliseconds, state: RelayState? = nil, failed: String? = nil) {
            self.count = count
            self.last = last
            self.state = state
            self.failed = failed
        }
    }

    package let id: Int64
    package var type: BroadcastType
    package var epoch: BroadcastEpoch
    /// Minutes after ``epoch``, rounded up; ``expires`` is exact.
    package var expiry: Int
    /// The exact time from ``starts`` to ``expires``; `nil` if it is a whole number of minutes.
    package var lifetime: Milliseconds?
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

    /// A new broadcast, or the result of an edit.
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
        expiry = (expires - starts).roundedUpToMinutes
        lifetime = (expires - starts).rawValue % 60_000 == 0 ? nil : expires - starts
        channels = draft.channels
        condition = draft.condition
        repetition = draft.repetition
    }

    /// The next version, by an edit; the broadcast itself if the draft changes nothing, as one that is repeated.
    package func edited(_ draft: BroadcastDraft, language: String, now: UnixMilliseconds) -> Broadcast {
        var edited = Broadcast(draft, id: id, language: language, sender: sender, created: created, now: now)
        if draft.epoch?.moment == epoch.moment {
            // The epoch of one that began when it was sent has whole seconds; its beginning is exact.
            (edited.starts, edited.expires) = (starts, starts + (edited.expires - edited.starts))
        }
        if edited.actionData.withDefaults(of: edited.type) == actionData.withDefaults(of: type) { edited.actionData = actionData }
        (edited.version, edited.changed, edited.pushed) = (version, changed, pushed)
        guard edited != self else { return self }
        (edited.version, edited.changed) = (version + 1, now)
        return edited
    }

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
        case id, type, epoch, expiry, lifetime, channels, condition, language, starts, expires, version, sender, created, changed
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
    package internal(set) var actionData: BroadcastActionData
    package let channels: [ObjectID]?
    package let condition: String?
    package let language: String
    package let starts: UnixMilliseconds
    package let expires: UnixMilliseconds
    package let version: Int64
    /// When the last of all versions expires, if that is after ``expires``: until then phones may have an earlier one.
    package let until: UnixMilliseconds?

    /// - Parameter until: When the last of all versions expires; `nil` if that is this one.
    package init(_ broadcast: Broadcast, until: UnixMilliseconds? = nil) {
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
        self.until = until.flatMap { $0 > broadcast.expires ? $0 : nil }
    }

    /// The earlier versions, as a withdrawal of them; `nil` for the first version. A phone that shows an earlier version removes it even if
    /// it does not show this one, which may be for others, not have begun, or have expired.
    package var earlierVersions: WithdrawnBroadcast? {
        version > 1 ? WithdrawnBroadcast(id: id, version: version - 1, expires: until ?? expires) : nil
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, type, epoch, expiry, channels, condition, language, starts, expires, version, until
        case actionData = "actiondata"
    }
}

/// A broadcast of which every version up to the named one is over: phones remove it.
package struct WithdrawnBroadcast: Codable, Hashable, Sendable {
    package let id: Int64
    package let version: Int64
    /// When the last of these versions expires. Until then phones remember the withdrawal.
    package let expires: UnixMilliseconds

    /// - Parameter until: When the last of all versions expires; `nil` if that is this one.
    package init(_ broadcast: Broadcast, until: UnixMilliseconds? = nil) {
        id = broadcast.id
        version = broadcast.version
        expires = max(until ?? broadcast.expires, broadcast.expires)
    }

    package init(id: Int64, version: Int64, expires: UnixMilliseconds) {
        self.id = id
        self.version = version
        self.expires = expires
    }
}

extension Milliseconds {
    /// In minutes.
    var roundedUpToMinutes: Int { Int((rawValue + 59_999) / 60_000) }
}

/// The answer of `GET /broadcast/active`.
package struct ActiveBroadcasts: Codable, Hashable, Sendable {
    package let broadcasts: [PhoneBroadcast]
    /// Of these, every version up to the named one is over.
    package let withdrawn: [WithdrawnBroadcast]

    package init(broadcasts: [PhoneBroadcast], withdrawn: [WithdrawnBroadcast]) {
        self.broadcasts = broadcasts
        self.withdrawn = withdrawn
    }
}

/// The static file of the broadcasts: the same with the number of the file's form.
///
/// The number never rises under the same name, because old versions of the app read the file too: only optional fields are added. It may
/// be missing, as in a mirror of `GET /broadcast/active`.
package struct BroadcastsFile: Codable, Hashable, Sendable {
    private static let onlyFormat = 1

    package let format: Int
    package let broadcasts: [PhoneBroadcast]
    package let withdrawn: [WithdrawnBroadcast]

    package init(_ active: ActiveBroadcasts) {
        format = Self.onlyFormat
        broadcasts = active.broadcasts
        withdrawn = active.withdrawn
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        format = try fields.decodeIfPresent(Int.self, forKey: .format) ?? Self.onlyFormat
        guard format == Self.onlyFormat else {
            throw DecodingError.dataCorruptedError(
                forKey: .format, in: fields, debugDescription: "the format \(format) is not known")
        }
        broadcasts = try fields.decode([PhoneBroadcast].self, forKey: .broadcasts)
        withdrawn = try fields.decode([WithdrawnBroadcast].self, forKey: .withdrawn)
    }
}
