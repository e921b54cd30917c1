import Base
import HTTPTypes
import Hummingbird
import Schemas

// The documents of the routes of study sessions that no command has.

/// The body of `POST /user/classes`.
struct ClassKeyUse: Codable, Checked, Sendable {
    let key: Secret

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case key
    }

    func check() throws(SchemaViolation) {
        try StudyLimits.classKey.check(key.text, CodingKeys.key)
    }
}

/// The body of `PUT /user/classes/:classID`.
struct ClassChoice: Codable, Sendable {
    let newSessions: Bool

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case newSessions = "new_sessions"
    }
}

/// The body of `PUT /classes/:classID/roster/:account`.
struct ClassRoleChange: Codable, Checked, Sendable {
    let role: ClassRole

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case role
    }

    func check() throws(SchemaViolation) {
        guard role != .professor else { throw SchemaViolation(CodingKeys.role, "expected \"student\" or \"ta\"") }
    }
}

/// The body of `POST /classes/:classID/sessions/:sessionID`, which may be left out.
struct SessionJoin: Codable, Sendable {
    /// `true` to leave the session in which the caller is, or to end it as its host.
    let leave: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case leave
    }
}

/// The body of `POST …/invite`.
struct InviteDraft: Codable, Checked, Sendable {
    let accounts: [AccountName]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case accounts
    }

    func check() throws(SchemaViolation) {
        let limits = 0...Int64(StudyLimits.maxInvited)
        guard limits.contains(Int64(accounts.count)) else {
            throw SchemaViolation(
                CodingKeys.accounts, "expected at most \(StudyLimits.maxInvited) accounts, found \(accounts.count)",
                limit: .range(limits))
        }
    }
}

/// The body of `POST …/posts`.
struct PostDraft: Codable, Checked, Sendable {
    let text: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case text
    }

    func check() throws(SchemaViolation) {
        try StudyLimits.post.check(text, CodingKeys.text)
    }
}

/// The body of `DELETE …/posts`.
struct PostRemoval: Codable, Sendable {
    let post: ObjectID

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case post
    }
}

// MARK: Queries

/// The parameters of a list of the study service: a page.
struct StudyPageQuery: Decodable, Checked {
    private let limit: Int?
    /// The `next` of the page before.
    let after: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    var pageSize: Int { limit ?? 50 }

    func check() throws(SchemaViolation) {
        try StudyLimits.page.check(limit, CodingKeys.limit)
        try TextLimits.studyCursor.check(after, CodingKeys.after)
    }
}

/// The parameters of `GET /classes/:classID/classmates`. Its pages are larger: many persons show nothing.
struct ClassmateQuery: Decodable, Checked {
    private let limit: Int?
    let after: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    var pageSize: Int { limit ?? StudyLimits.maxClassmates }

    func check() throws(SchemaViolation) {
        try (1...StudyLimits.maxClassmates).check(limit, CodingKeys.limit)
        try TextLimits.studyCursor.check(after, CodingKeys.after)
    }
}

/// The parameters of `GET /classes/:classID/sessions/past`.
struct PastSessionQuery: Decodable, Checked {
    private let from: UnixMilliseconds?
    private let until: UnixMilliseconds?
    private let topic: String?
    private let limit: Int?
    let after: String?
    let format: ListFormat?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case from, until, topic, limit, after, format
    }

    var pageSize: Int { limit ?? 50 }

    func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(until, CodingKeys.until)
        try ListPastSessions.checkTime(from: from, until: until, CodingKeys.until)
        try StudyLimits.topic.check(topic, CodingKeys.topic)
        try StudyLimits.page.check(limit, CodingKeys.limit)
        try TextLimits.studyCursor.check(after, CodingKeys.after)
    }

    func command(of classID: ObjectID, limit: Int, after: String?) -> ListPastSessions {
        ListPastSessions(of: classID, from: from, until: until, topic: topic, limit: limit, after: after)
    }
}

extension TextLimits {
    /// As the commands of the study service limit it.
    fileprivate static let studyCursor = TextLimits(max: 1_000)
}

extension RouteCall {
    /// The header that links to the next page, which has the same query with the next cursor; empty on the last page.
    ///
    /// - Parameters:
    ///   - path: The route's path with the identifiers.
    ///   - cursor: The `next` of the answer.
    func link(to path: String, limit: Int, after cursor: String?) -> HTTPFields {
        .link(next: cursor.map { request.nextPage(path, limit: Int64(limit), ("after", $0)) })
    }
}
