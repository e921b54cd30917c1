import JSON

/// A message or a push that is held since a restore: what the operator needs to decide about it.
package struct HeldItem: Codable, Hashable, Sendable {
    package enum Kind: String, ClosedEnum {
        case message, push
    }

    /// The `msi_key` of a message, or the `push_id` of a push.
    package let key: ObjectID
    package let kind: Kind
    package let sender: String
    /// When it was accepted.
    package let accepted: UnixMilliseconds
    package let expires: UnixMilliseconds
    /// The scheduled time; absent for at once.
    package let notBefore: UnixMilliseconds?
    /// Whether it waits for an approval as well. Absent for no.
    package let needsApproval: Bool?
    /// How often a relay had taken it when the backup was made.
    package let attempts: Int
    /// The names of a message's channel, area and subject.
    package let names: CubeNames?
    /// The title of a message.
    package let title: String?
    /// The fairness key of a push.
    package let fairnessKey: String?

    private enum CodingKeys: String, CodingKey {
        case key, kind, sender, accepted, expires, attempts, names, title
        case notBefore = "not_before"
        case needsApproval = "needs_approval"
        case fairnessKey = "fairness_key"
    }

    package init(
        key: ObjectID, kind: Kind, sender: String, accepted: UnixMilliseconds, expires: UnixMilliseconds,
        notBefore: UnixMilliseconds?, needsApproval: Bool?, attempts: Int, names: CubeNames?, title: String?, fairnessKey: String?
    ) {
        self.key = key
        self.kind = kind
        self.sender = sender
        self.accepted = accepted
        self.expires = expires
        self.notBefore = notBefore
        self.needsApproval = needsApproval
        self.attempts = attempts
        self.names = names
        self.title = title
        self.fairnessKey = fairnessKey
    }
}
