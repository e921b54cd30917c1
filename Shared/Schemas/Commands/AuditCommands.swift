package import Base

/// `audit.add`: appends entries to the audit log. Entries that it contains already, by their ids, change nothing, so that a sender
/// may repeat the command until it is acknowledged.
///
/// The log keeps each entry as its JSON, so the JSON is written once, where the entry is made.
package struct AddAuditEntries: Command, Hashable {
    package static let name = "audit.add"
    package typealias Reply = Done

    /// The maximum number of entries of a command.
    package static let maxEntries = 200

    package let entries: [WrittenAuditEntry]

    package init(_ entries: [WrittenAuditEntry]) {
        self.entries = entries
    }

    package init(entries: [AuditEntry]) throws {
        self.init(try entries.map { try WrittenAuditEntry($0) })
    }
}

/// `audit.list`: a page of the entries that match a filter, the latest change first.
package struct ListAuditEntries: Command, Checked {
    package static let name = "audit.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let entries: [NumberedAuditEntry]
        /// Where the next page begins; absent on the last one. A page may have fewer entries than its limit, or none, if few of
        /// the entries that were read match the filter.
        package let next: String?

        package init(entries: [NumberedAuditEntry], next: String?) {
            self.entries = entries
            self.next = next
        }
    }

    /// The maximum number of entries of a page.
    package static let maxPerPage: Int64 = 1_000

    /// The number of entries, 1 to ``maxPerPage``.
    package let limit: Int64
    /// The `next` of the previous page; `nil` for the latest entries.
    package let after: String?
    package let filter: AuditFilter?

    package init(limit: Int64, after: String? = nil, filter: AuditFilter? = nil) {
        self.limit = limit
        self.after = after
        self.filter = filter
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after, filter
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
        try TextLimits.auditCursor.check(after, CodingKeys.after)
    }
}

/// An entry with its number in the log.
package struct NumberedAuditEntry: Codable, Hashable, Sendable {
    package let number: Int64
    package let hash: String
    package let entry: AuditEntry

    package init(number: Int64, hash: String, entry: AuditEntry) {
        self.number = number
        self.hash = hash
        self.entry = entry
    }
}

/// A filter for the audit log. Entries match if they meet all its conditions.
package struct AuditFilter: Codable, Checked, Hashable, Sendable {
    /// The account that made the change.
    package var account: String?
    package var action: String?
    /// The ``AuditObject/id``.
    package var object: String?
    /// The start of the range of `at`, inclusive.
    package var from: UnixMilliseconds?
    /// The end of the range, exclusive.
    package var to: UnixMilliseconds?

    package init() {}

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, action, object, from, to
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.sender.check(account, CodingKeys.account)
        try TextLimits.auditAction.check(action, CodingKeys.action)
        try TextLimits.auditObject.check(object, CodingKeys.object)
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(to, CodingKeys.to)
    }
}

/// `audit.chain`: a part of the log as it is stored, in the order of its numbers, to verify it.
package struct ReadAuditChain: Command, Checked {
    package static let name = "audit.chain"

    package struct Reply: Codable, Hashable, Sendable {
        /// The readable entries, in the order of their numbers.
        package let links: [AuditLink]
        /// The identifiers of the documents among them that are not readable entries: another program has inserted or damaged them.
        package let unreadable: [String]
        /// Where the next reply begins; absent in the last one.
        package let next: String?
        /// The number and the hash of the newest entry, which the log keeps apart from its entries.
        package let head: AuditHead

        package init(links: [AuditLink], unreadable: [String] = [], next: String?, head: AuditHead) {
            self.links = links
            self.unreadable = unreadable
            self.next = next
            self.head = head
        }
    }

    /// The maximum number of entries of a reply, which may have fewer.
    package static let maxPerPage: Int64 = 1_000

    /// The `next` of the reply before; `nil` for the first entries.
    package let after: String?
    /// 1 to ``maxPerPage``.
    package let limit: Int64

    package init(after: String? = nil, limit: Int64 = maxPerPage) {
        self.after = after
        self.limit = limit
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case after, limit
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.auditCursor.check(after, CodingKeys.after)
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
    }
}

/// The number and the hash of the newest entry of the audit log.
package struct AuditHead: Codable, Hashable, Sendable {
    /// 0 if the log is empty.
    package let number: Int64
    package let hash: String

    package init(number: Int64, hash: String) {
        self.number = number
        self.hash = hash
    }

    /// The head of an empty log.
    package static let empty = AuditHead(number: 0, hash: AuditLink.firstPrevious)
}

extension TextLimits {
    /// A place in the audit log.
    package static let auditCursor = TextLimits(max: 500)
}

/// An entry of the audit log as it is stored: numbered, and chained to the entry before it.
///
/// The hash is the SHA-256 of the previous hash and the entry's text. So no entry can be changed, removed or inserted without
/// changing every later hash.
package struct AuditLink: Codable, Hashable, Sendable, Identifiable {
    /// From 1, without gaps.
    package let id: Int64
    /// The JSON of the ``AuditEntry`` as it was hashed; with sorted fields, unless another program has written it.
    package let entry: String
    /// The hash of the entry before, in hexadecimal digits; ``firstPrevious`` in the first one.
    package let previous: String
    /// 64 lower-case hexadecimal digits.
    package let hash: String

    // Copies from the entry, for searches: names in lower case.
    package let entryID: ObjectID
    package let at: UnixMilliseconds
    package let actor: String?
    package let action: String
    package let object: String

    /// Stands for the hash before the first entry.
    package static let firstPrevious = String(repeating: "0", count: 64)

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case entry, previous, hash, at, actor, action, object
        case entryID = "entry_id"
    }

    /// - Parameters:
    ///   - number: The number of the entry, from 1.
    ///   - hash: The hash over `previous` and the entry's JSON.
    package init(_ number: Int64, _ entry: WrittenAuditEntry, previous: String, hash: String) {
        id = number
        self.entry = entry.json
        self.previous = previous
        self.hash = hash
        entryID = entry.id
        at = entry.at
        actor = entry.actor?.lowercased()
        action = entry.action
        object = entry.object.id.lowercased()
    }
}
