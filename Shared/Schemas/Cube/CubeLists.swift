package import Base

/// Who may send to a subject, or to all subjects of an area or a channel: `{"access":["ann"]}`. An empty list names no account.
package struct AccessList: Codable, Checked, Hashable, Sendable {
    /// The maximum number of names.
    package static let maxNames = 500

    package let access: [AccountName]

    package init(access: [AccountName]) {
        self.access = access
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case access
    }

    package func check() throws(SchemaViolation) {
        try Self.check(access, CodingKeys.access)
    }

    static func check(_ names: [AccountName], _ field: some CodingKey) throws(SchemaViolation) {
        guard names.count <= maxNames else {
            throw SchemaViolation(
                field, "expected at most \(maxNames) names, found \(names.count)", limit: .range(0...Int64(maxNames)))
        }
        var known: Set<AccountName> = []
        if let name = names.first(where: { !known.insert($0).inserted }) {
            throw SchemaViolation(field, "expected each name once, found \"\(name)\" again", limit: .distinct)
        }
    }
}

/// The order of the channels, of a channel's areas or of an area's subjects: `{"ids":["5a…"]}`.
package struct CubeOrder: Codable, Checked, Hashable, Sendable {
    /// The maximum number of ids: as many as fit into a request's body, and as FCM allows a phone topics.
    package static let maxIDs = 2_000

    /// Each of the present ids, once.
    package let ids: [ObjectID]

    package init(ids: [ObjectID]) {
        self.ids = ids
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case ids
    }

    package func check() throws(SchemaViolation) {
        guard ids.count <= Self.maxIDs else {
            throw SchemaViolation(
                CodingKeys.ids, "expected at most \(Self.maxIDs) ids, found \(ids.count): a longer list cannot be sorted",
                limit: .range(0...Int64(Self.maxIDs)))
        }
        try Self.check(ids, CodingKeys.ids)
    }

    static func check(_ ids: [ObjectID], _ field: some CodingKey) throws(SchemaViolation) {
        var known: Set<ObjectID> = []
        if let id = ids.first(where: { !known.insert($0).inserted }) {
            throw SchemaViolation(field, "expected each id once, found \(id) again", limit: .distinct)
        }
    }
}

/// Whether a second person must approve each message to a subject: `{"approval":true}`.
package struct Approval: Codable, Hashable, Sendable {
    package let approval: Bool

    package init(approval: Bool) {
        self.approval = approval
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case approval
    }
}

/// The area to which a subject is moved: `{"channel":"5a…","area":"5b…"}`.
package struct SubjectPlace: Codable, Hashable, Sendable {
    package let channel: ObjectID
    package let area: ObjectID

    package init(channel: ObjectID, area: ObjectID) {
        self.channel = channel
        self.area = area
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel, area
    }
}

extension FieldLimit {
    /// A list in which nothing occurs twice.
    static let distinct = FieldLimit(keywords: ["uniqueItems": true], example: [])
}
