package import Base

// The commands about the posts of a session. The header's `actor` is required: it is the person. Posts to an open session are
// read and written by all of its class, and those to one that has ended are read by those who were there, and by the professor.

/// `study_post.list`: the posts to a session, the newest first, page by page. Removed ones are only for the professor.
package struct ListPosts: Command, Checked {
    package static let name = "study_post.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let posts: [SessionPost]
        /// The `after` of the next page; absent on the last one. A page may be short, or empty, although more follow.
        package let next: String?
        package let now: UnixMilliseconds

        package init(posts: [SessionPost], next: String?, now: UnixMilliseconds) {
            self.posts = posts
            self.next = next
            self.now = now
        }
    }

    package let classID: ObjectID
    package let session: ObjectID
    package let limit: Int
    package let after: String?

    package init(to session: ObjectID, of classID: ObjectID, limit: Int, after: String? = nil) {
        self.classID = classID
        self.session = session
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case session, limit, after
        case classID = "class"
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.page.check(limit, CodingKeys.limit)
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }
}

/// `study_post.add`: a new post to an open session. `overloaded` with `retry_after` at ``StudyRules/postsPerMinute``. A repeated
/// command with the same request key gets the same post; `conflict` with the field `request_key` if the key was used for another
/// one.
package struct AddPost: Command, Checked {
    package static let name = "study_post.add"
    package typealias Reply = SessionPost

    package let classID: ObjectID
    package let session: ObjectID
    package let text: String
    package let requestKey: String?

    package init(_ text: String, to session: ObjectID, of classID: ObjectID, requestKey: String? = nil) {
        self.classID = classID
        self.session = session
        self.text = text
        self.requestKey = requestKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case session, text
        case classID = "class"
        case requestKey = "request_key"
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.post.check(text, CodingKeys.text)
        try TextLimits.idempotencyKey.check(requestKey, CodingKeys.requestKey)
    }
}

/// `study_post.remove`: removes a post from public view, also from a session that has ended. One's own, or as the class's staff
/// (``ClassAction/remove(postOf:)``): then the audit log has it, without the text. Repeated, it changes nothing. `not_found` if
/// the caller does not see it.
package struct RemovePost: Command {
    package static let name = "study_post.remove"
    package typealias Reply = Done

    package let classID: ObjectID
    package let session: ObjectID
    package let id: ObjectID

    package init(_ id: ObjectID, from session: ObjectID, of classID: ObjectID) {
        self.classID = classID
        self.session = session
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case session, id
        case classID = "class"
    }
}
