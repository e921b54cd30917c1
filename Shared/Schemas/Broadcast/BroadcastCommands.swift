package import JSON

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
/// has expired, also if an edit has made the present one expire earlier.
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
    /// The version of the service's data after the command: with it the gateway knows that an older copy is stale.
    package let data: Revision

    package init(_ broadcast: Broadcast, data: Revision) {
        self.broadcast = broadcast
        self.data = data
    }
}

/// `broadcast.get`: one broadcast, also a withdrawn or expired one, with what became of its last push.
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
    /// Only those in this state. A page may then have fewer than `limit`, or none, and a next one all the same.
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
/// the audience remove is in ``PhoneBroadcast/formerVersions``.
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
