package import Base

/// `broadcast.add`: a new broadcast. The header's `actor` is its sender.
///
/// Repeated with the same idempotency key, or with the same `id`, it changes nothing, and the reply is the stored one. Another draft
/// with the key or `id` is a `conflict`.
package struct AddBroadcast: Command, Checked, Hashable {
    package static let name = "broadcast.add"
    package typealias Reply = RevisedBroadcast

    package let draft: BroadcastDraft
    /// The sender's own key for the command.
    package let idempotencyKey: String?

    package init(_ draft: BroadcastDraft, idempotencyKey: String? = nil) {
        self.draft = draft
        self.idempotencyKey = idempotencyKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft
        case idempotencyKey = "idempotency_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
    }
}

/// `broadcast.update`: a new version. A draft that changes nothing makes none.
package struct UpdateBroadcast: Command, Checked, Hashable {
    package static let name = "broadcast.update"
    package typealias Reply = RevisedBroadcast

    package let id: Int64
    package let draft: BroadcastDraft
    /// The version that the editor has read; as in ``UpdateResource``.
    package let unchangedSince: Int64?

    package init(_ id: Int64, _ draft: BroadcastDraft, unchangedSince: Int64? = nil) {
        self.id = id
        self.draft = draft
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, draft
        case unchangedSince = "unchanged_since"
    }

    package func check() throws(SchemaViolation) {
        try BroadcastDraft.ids.check(id, CodingKeys.id)
        try (0...Int64.max).check(unchangedSince, CodingKeys.unchangedSince)
    }
}

/// `broadcast.withdraw`: phones remove it. It stays in the log. Repeated, it changes nothing. It is possible until the last version
/// has expired, even if an edit has made the present one expire earlier.
package struct WithdrawBroadcast: Command, Checked, Hashable {
    package static let name = "broadcast.withdraw"
    package typealias Reply = RevisedBroadcast

    package let id: Int64
    package let unchangedSince: Int64?

    package init(_ id: Int64, unchangedSince: Int64? = nil) {
        self.id = id
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case unchangedSince = "unchanged_since"
    }

    package func check() throws(SchemaViolation) {
        try BroadcastDraft.ids.check(id, CodingKeys.id)
        try (0...Int64.max).check(unchangedSince, CodingKeys.unchangedSince)
    }
}

/// The reply about one broadcast.
package struct RevisedBroadcast: Codable, Hashable, Sendable {
    package let broadcast: Broadcast
    /// The version of the service's data after the command. It shows the gateway that its copy is stale.
    package let data: Revision

    package init(_ broadcast: Broadcast, data: Revision) {
        self.broadcast = broadcast
        self.data = data
    }
}

/// `broadcast.get`: one broadcast, also a withdrawn or expired one, with the outcome of its last push.
package struct GetBroadcast: Command, Checked, Hashable {
    package static let name = "broadcast.get"
    package typealias Reply = Broadcast

    package let id: Int64

    package init(_ id: Int64) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }

    package func check() throws(SchemaViolation) {
        try BroadcastDraft.ids.check(id, CodingKeys.id)
    }
}

/// `broadcast.list`: a page of the log, the newest first.
package struct ListBroadcasts: Command, Checked, Hashable {
    package static let name = "broadcast.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let broadcasts: [Broadcast]
        /// The default language.
        package let language: String
        /// How many bytes a broadcast may have for FCM.
        package let limit: Int
        /// Where the next page begins; absent on the last one.
        package let next: String?

        package init(broadcasts: [Broadcast], language: String, limit: Int, next: String?) {
            self.broadcasts = broadcasts
            self.language = language
            self.limit = limit
            self.next = next
        }
    }

    package static let limits = 1...200

    package let limit: Int
    package let after: String?
    /// Only those in this state. Filtering happens after paging, so a page may be short or empty although more follow.
    package let state: Broadcast.State?

    package init(limit: Int, after: String? = nil, state: Broadcast.State? = nil) {
        self.limit = limit
        self.after = after
        self.state = state
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after, state
    }

    package func check() throws(SchemaViolation) {
        try Self.limits.check(limit, CodingKeys.limit)
    }
}

/// `broadcast.current`: what phones need to know: all broadcasts that have not expired, also scheduled ones; and those that are over
/// although a version of them would not have expired yet, since they were withdrawn or an edit has shortened them. What phones outside
/// the audience remove is in ``PhoneBroadcast/earlierVersions``.
package struct ReadCurrentBroadcasts: Command, Hashable {
    package static let name = "broadcast.current"

    package struct Reply: Codable, Hashable, Sendable {
        package let version: Revision
        package let broadcasts: [PhoneBroadcast]
        package let withdrawn: [WithdrawnBroadcast]

        package init(version: Revision, broadcasts: [PhoneBroadcast], withdrawn: [WithdrawnBroadcast]) {
            self.version = version
            self.broadcasts = broadcasts
            self.withdrawn = withdrawn
        }
    }

    package init() {}

    private enum CodingKeys: CodingKey, CaseIterable {}
}

/// The event `broadcast.changed`: after each change, and once a second.
package struct BroadcastsChanged: Codable, Hashable, Sendable {
    package static let name = "broadcast.changed"

    package let version: Revision

    package init(version: Revision) {
        self.version = version
    }
}

extension ReadCurrentBroadcasts.Reply {
    /// What phones show now.
    ///
    /// - Parameter channels: Those of the phones; `nil` for phones of every channel, which choose by their own.
    package func active(in channels: Set<ObjectID>? = nil, at now: UnixMilliseconds) -> ActiveBroadcasts {
        let (shown, others) = broadcasts.reduce(into: ([PhoneBroadcast](), [PhoneBroadcast]())) { parts, broadcast in
            let isFor = channels.map { channels in broadcast.channels?.contains(where: channels.contains) ?? true } ?? true
            let isActive = broadcast.starts <= now && now < broadcast.expires
            if isFor, isActive { parts.0.append(broadcast) } else { parts.1.append(broadcast) }
        }
        // An edit has moved it to a later time, or to other phones, or it has ended earlier than an earlier version.
        let over = (withdrawn + others.compactMap(\.earlierVersions)).filter { now < $0.expires }
        return ActiveBroadcasts(broadcasts: shown, withdrawn: over)
    }

    /// When the next broadcast begins or ends; `nil` if none does.
    package func nextChange(after now: UnixMilliseconds) -> UnixMilliseconds? {
        let moments = broadcasts.flatMap { [$0.starts, $0.expires, $0.until ?? $0.expires] } + withdrawn.map(\.expires)
        return moments.filter { $0 > now }.min()
    }
}

extension WrittenBroadcast {
    /// A failure of a command with the draft, with the field's name as in the document.
    package func renamed(_ failure: CommandFailure) -> CommandFailure {
        guard let field = failure.field else { return failure }
        let name = renamed(field)
        let message = failure.message.hasPrefix(field) ? name + failure.message.dropFirst(field.count) : failure.message
        return CommandFailure(failure.status, message, field: name, retryAfter: failure.retryAfter)
    }
}

/// How `msi restore` marks the stored broadcasts that would still be pushed. They may have been pushed, edited or withdrawn after the backup
/// was made, so the outbox holds their pushes until the operator releases one.
package enum BroadcastHold {
    /// The collection of the broadcast service.
    package static let collection = "broadcast"
    /// The field with the time of the next push.
    package static let plannedField = "next_push"
    /// The field with the time of the restore.
    package static let field = "restored"
}

/// The stored numbers of broadcasts that `msi restore` raises. Phones know those that were given after the backup was made, and take only
/// higher ones.
package enum BroadcastNumbers {
    /// The field of a stored broadcast with the broadcast, and the field in it.
    package static let broadcast = "broadcast"
    package static let version = "version"
    /// The collection with the one document that counts the changes, and its id.
    package static let counter = "broadcast_changes"
    package static let counterID = "changes"
    /// Its fields: the number of changes, and the least id that the service may give.
    package static let count = "count"
    package static let nextID = "next_id"
}
