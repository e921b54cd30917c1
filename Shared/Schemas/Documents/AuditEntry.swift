package import Base

/// An entry of the audit log: who changed what, when, from where, and what it was before and after.
///
/// It contains no message's text and no secret.
///
/// `{"action":"area.update","actor":"ann","address":"192.0.2.7","after":{"name":"News"},"at":1763712000123,"before":{"name":"Old"},"id":"6a…","object":{"id":"5a…-5b…","kind":"area"}}`
package struct AuditEntry: Codable, Checked, Hashable, Sendable {
    /// Made by the service in which the change happens. An entry that is added again by the same id changes nothing.
    package let id: ObjectID
    /// When the change was made.
    package let at: UnixMilliseconds
    /// The account that made the change; `nil` if a program made it for itself.
    package let actor: String?
    /// The network address from which the account made it, if it is known.
    package let address: String?
    /// The change, named like its command: `area.update`.
    package let action: String
    package let object: AuditObject
    /// The changed fields of the object before; absent if it was added.
    package let before: JSONValue?
    /// The same fields after the change; absent if it was removed.
    package let after: JSONValue?

    /// - Parameters:
    ///   - before: If its JSON is longer than ``maxValueBytes``, the entry has only the beginning.
    ///   - after: The same.
    package init(
        id: ObjectID = ObjectID(), at: UnixMilliseconds = .now, by author: AuditAuthor, action: String, object: AuditObject,
        before: JSONValue? = nil, after: JSONValue? = nil
    ) {
        self.id = id
        self.at = at
        actor = author.actor
        address = author.address
        self.action = action
        self.object = object
        self.before = before.map(Self.bounded)
        self.after = after.map(Self.bounded)
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, at, actor, address, action, object, before, after
    }

    /// The maximum size of ``before`` and ``after``, in bytes of JSON.
    package static let maxValueBytes = 128 << 10

    package func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(at, CodingKeys.at)
        try TextLimits.sender.check(actor, CodingKeys.actor)
        try TextLimits.address.check(address, CodingKeys.address)
        try TextLimits.auditAction.check(action, CodingKeys.action)
        try Self.check(before, CodingKeys.before)
        try Self.check(after, CodingKeys.after)
    }

    /// A value, or the beginning of its JSON if it is too long for an entry.
    private static func bounded(_ value: JSONValue) -> JSONValue {
        let json = value.data
        guard json.count > maxValueBytes else { return value }
        // In JSON again, each character of the beginning takes at most six bytes.
        let beginning = String(decoding: json.prefix(maxValueBytes / 8), as: UTF8.self)
        return ["beginning": .string(beginning), "bytes": .integer(json.count)]
    }

    private static func check(_ value: JSONValue?, _ field: CodingKeys) throws(SchemaViolation) {
        guard let size = value?.data.count, size > maxValueBytes else { return }
        throw SchemaViolation(field, "expected at most \(maxValueBytes) bytes of JSON, found \(size)")
    }
}

/// The object of a change.
package struct AuditObject: Codable, Checked, Hashable, Sendable {
    /// What it is: `account`, `token`, `channel`, `area`, `subject`, `message` and so on.
    package let kind: String
    /// An account's name, the id of a token, a message's `msi_key`; in the cube the ids on the path to the object, joined by `-`,
    /// which is a subject's topic key.
    package let id: String

    package init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, id
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.auditAction.check(kind, CodingKeys.kind)
        try TextLimits.auditObject.check(id, CodingKeys.id)
    }
}

extension TextLimits {
    /// The name of a change, or of a kind of object.
    package static let auditAction = TextLimits(max: 64)
    /// The identifier of a changed object.
    package static let auditObject = TextLimits(max: 200)
}

/// Who makes a change, and from where.
package struct AuditAuthor: Hashable, Sendable {
    /// The account's name; `nil` if a program makes the change for itself.
    package let actor: String?
    /// The network address of the account's client, if it is known.
    package let address: String?

    package init(actor: String?, address: String? = nil) {
        self.actor = actor
        self.address = address
    }

    /// A program that makes a change for itself.
    package static let program = AuditAuthor(actor: nil)
}
