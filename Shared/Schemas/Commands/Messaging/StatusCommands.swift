package import Base

// The commands about statuses. The header's `actor` is required: it is the person. Friends see a status, and nobody else.

/// `status.set`: a new status, in the place of any earlier one. `not_found` with the field `picture` for a picture that the
/// caller has not uploaded; `conflict` with the field `request_key` if the key was used for another one; `overloaded` as
/// ``SendDirectMessage``. A repeated command with the same key gets the same status while it lasts.
package struct SetStatus: Command, Checked {
    package static let name = "status.set"
    package typealias Reply = OwnStatus

    package let draft: StatusDraft
    package let requestKey: String?

    package init(_ draft: StatusDraft, requestKey: String? = nil) {
        self.draft = draft
        self.requestKey = requestKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft
        case requestKey = "request_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(requestKey, CodingKeys.requestKey)
    }
}

/// `status.list`: the statuses of friends, and the caller's own. `overloaded` with `retry_after` if the device has asked less
/// than ``MessagingRules/poll`` ago.
package struct ListStatuses: Command {
    package static let name = "status.list"
    package typealias Reply = StatusList

    package let device: ObjectID

    package init(on device: ObjectID) {
        self.device = device
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case device
    }
}

/// `status.own`: the caller's own status, with by how many it was seen.
package struct ReadOwnStatus: Command {
    package static let name = "status.own"

    package struct Reply: Codable, Hashable, Sendable {
        /// Absent for none.
        package let status: OwnStatus?
        package let now: UnixMilliseconds

        package init(status: OwnStatus?, now: UnixMilliseconds) {
            self.status = status
            self.now = now
        }
    }

    package init() {}
}

/// `status.remove`: the caller has no status any more. Repeated, it changes nothing.
package struct RemoveStatus: Command {
    package static let name = "status.remove"
    package typealias Reply = Done

    package init() {}
}

/// `status.seen`: the caller has seen statuses of friends. Those that have ended, and those of others, are ignored.
package struct MarkStatusesSeen: Command {
    package static let name = "status.seen"
    package typealias Reply = Done

    package let seen: SeenStatuses

    package init(_ seen: SeenStatuses) {
        self.seen = seen
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case seen
    }
}
