package import Base

/// A friend's status, as the caller sees it. It ends at ``expires``, also on a device without a network.
package struct PersonStatus: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let account: AccountName
    /// Absent for a picture.
    package let text: String?
    package let picture: PictureInfo?
    package let at: UnixMilliseconds
    package let expires: UnixMilliseconds
    /// Whether the caller has seen it.
    package let seen: Bool

    package init(
        id: ObjectID, account: AccountName, text: String?, picture: PictureInfo?, at: UnixMilliseconds,
        expires: UnixMilliseconds, seen: Bool
    ) {
        self.id = id
        self.account = account
        self.text = text
        self.picture = picture
        self.at = at
        self.expires = expires
        self.seen = seen
    }
}

/// The caller's own status.
package struct OwnStatus: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let text: String?
    package let picture: PictureInfo?
    package let at: UnixMilliseconds
    package let expires: UnixMilliseconds
    /// By how many friends it was seen.
    package let seen: Int

    package init(
        id: ObjectID, text: String?, picture: PictureInfo?, at: UnixMilliseconds, expires: UnixMilliseconds, seen: Int
    ) {
        self.id = id
        self.text = text
        self.picture = picture
        self.at = at
        self.expires = expires
        self.seen = seen
    }
}

/// The statuses that a person sees, and the hub's time: devices hide them by their own clocks, corrected by it.
package struct StatusList: Codable, Hashable, Sendable {
    /// Those of friends, the newest first.
    package let statuses: [PersonStatus]
    /// Absent for none.
    package let own: OwnStatus?
    package let now: UnixMilliseconds

    package init(statuses: [PersonStatus], own: OwnStatus?, now: UnixMilliseconds) {
        self.statuses = statuses
        self.own = own
        self.now = now
    }
}

/// The body of `POST /user/status`: a text, or a picture that was uploaded before.
package struct StatusDraft: Codable, Checked, Hashable, Sendable {
    package let text: String?
    /// The id of an ``UploadedPicture``.
    package let picture: ObjectID?

    package init(text: String? = nil, picture: ObjectID? = nil) {
        self.text = text
        self.picture = picture
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case text, picture
    }

    package func check() throws(SchemaViolation) {
        try MessagingLimits.status.check(text, CodingKeys.text)
        guard (text == nil) != (picture == nil) else {
            throw SchemaViolation(CodingKeys.text, "expected either a text or a picture")
        }
    }
}

/// The body of `PUT /user/statuses/seen`.
package struct SeenStatuses: Codable, Checked, Hashable, Sendable {
    package let statuses: [ObjectID]

    package init(statuses: [ObjectID]) {
        self.statuses = statuses
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case statuses
    }

    package func check() throws(SchemaViolation) {
        let limits = 1...Int64(MessagingLimits.maxAtOnce)
        guard limits.contains(Int64(statuses.count)) else {
            throw SchemaViolation(
                CodingKeys.statuses, "expected 1 to \(MessagingLimits.maxAtOnce) statuses, found \(statuses.count)",
                limit: .range(limits))
        }
    }
}
