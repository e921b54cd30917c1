import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// The posts to a study session.
struct PostRoutes: Feature {
    let study: CommandClient

    private static let all = StudySessionRoutes.one + "/posts"

    var section: APISection {
        APISection(
            "Posts",
            "All of a class read and write the posts to its open sessions, whether they attend or not. Those to a session that "
                + "has ended are for the people who were there, and for the professor. A removed post is gone for all but the "
                + "professor, who sees who has removed it and when.")
    }

    var routes: [Route] {
        [
            Route(.get, Self.all, right: .person, query: StudyPageQuery.self, answer: .ok(ListPosts.Reply.self), list).documented(
                "List the posts to a session",
                "The newest first. A page may be short, or empty, although more follow.", answerHeaders: [.nextPage]),
            Route(.post, Self.all, right: .person, body: PostDraft.self, answer: .created(SessionPost.self), add).documented(
                "Post to a session",
                "409 with the `field` `ended` if it has ended. 429 after too many posts within a minute.",
                headers: [.idempotencyKey], answerHeaders: [.location], problems: [.conflict]),
            Route(.delete, Self.all, right: .person, body: PostRemoval.self, answer: .noContent) { call in
                try await remove(try await call.body().post, for: call)
            }.documented("Remove a post that the body names", "As `DELETE …/posts/:postID`."),
            Route(.delete, Self.all + "/:postID", right: .person, answer: .noContent) { call in
                try await remove(try call.identifier("postID"), for: call)
            }.documented(
                "Remove a post",
                "From public view, also of a session that has ended: one's own; as a teaching assistant those of students; as "
                    + "the professor any. The audit log has what somebody else has removed, without the text. Repeated, it "
                    + "changes nothing."),
        ]
    }

    private func list(_ call: PersonCall<NoBody>, _ query: StudyPageQuery) async throws -> Answer<ListPosts.Reply> {
        let (id, classID) = try StudySessionRoutes.session(of: call)
        let command = ListPosts(to: id, of: classID, limit: query.pageSize, after: query.after)
        let page = try await study.request(command, for: call)
        return Answer(page, headers: call.link(to: Self.path(id, classID), limit: query.pageSize, after: page.next))
    }

    private func add(_ call: PersonCall<PostDraft>) async throws -> Answer<SessionPost> {
        let (id, classID) = try StudySessionRoutes.session(of: call)
        let command = AddPost(
            try await call.body().text, to: id, of: classID, requestKey: try call.request.idempotencyKey)
        let post = try await study.request(command, for: call)
        return Answer(post, headers: [.location: "\(Self.path(id, classID))/\(post.id)"])
    }

    private func remove(_ post: ObjectID, for call: PersonCall<some Sendable>) async throws -> Answer<NoContent> {
        let (id, classID) = try StudySessionRoutes.session(of: call)
        _ = try await study.request(RemovePost(post, from: id, of: classID), for: call)
        return Answer()
    }

    private static func path(_ session: ObjectID, _ classID: ObjectID) -> String {
        "/classes/\(classID)/sessions/\(session)/posts"
    }
}
