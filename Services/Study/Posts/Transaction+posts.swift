import Schemas
import Store

extension Transaction {
    /// Whether a person may read the posts of a session: of an open one, all of its class may; of one that has ended, who was
    /// there, and the professor.
    func mayReadPosts(
        of session: SessionDocument, _ member: EnrolmentDocument, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> Bool {
        if session.isOpen(at: now, rules) || ClassAction.readHistory.isAllowed(to: member.role) { return true }
        return try attendance(of: member.account, at: session.id) != nil
    }

    /// A page of the posts to a session, the newest first.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` if there is no such session for the person.
    func posts(
        _ command: ListPosts, after cursor: Cursor?, for account: AccountName, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> ListPosts.Reply {
        let member = try require(.readPosts, of: account, in: command.classID).member
        let session = try session(command.session, of: command.classID)
        guard try mayReadPosts(of: session, member, at: now, rules) else {
            throw CommandFailure(.notFound, "no study session \(command.session)")
        }
        let query = Query(where: StudyStore.postSession == session.id, order: .descending(StudyStore.postAt))
        let page = try page(of: StudyStore.posts, query, after: cursor, limit: command.limit)
        let seesRemoved = ClassAction.readRemovedPosts.isAllowed(to: member.role)
        let posts = page.documents.map(\.document)
        let seen = try seesRemoved ? posts : namingMembers(posts.filter { $0.removed == nil }, of: command.classID)
        return ListPosts.Reply(
            posts: seen.map { $0.view(showsRemoval: seesRemoved) }, next: page.next?.description, now: now)
    }

    /// The authors, in lower case, of the posts of which attendants are told at a moment. Removed posts are left out.
    func authors(ofPostsToldAt due: UnixMilliseconds, in session: SessionDocument) throws -> Set<String> {
        // All of them: another instance whose clock is behind may have stored one with a time before the last push.
        let query = Query(where: StudyStore.postSession == session.id, order: .ascending(StudyStore.postAt))
        let told = session.told ?? due
        var authors: Set<String> = []
        var cursor: Cursor?
        repeat {
            let page = try page(of: StudyStore.posts, query, after: cursor, limit: 500)
            let waiting = page.documents.map(\.document).filter {
                // An earlier version stores no news.
                $0.removed == nil && ($0.news == due || ($0.news == nil && $0.at > told))
            }
            authors.formUnion(waiting.compactMap(\.author))
            cursor = page.next
        } while cursor != nil
        return authors
    }

    /// Posts without the names of authors who have left the class. Only its professor still sees them.
    private func namingMembers(_ posts: [PostDocument], of classID: ObjectID) throws -> [PostDocument] {
        let authors = Set(posts.compactMap(\.author))
        let left = try authors.filter { try enrolment(of: $0, in: classID) == nil }
        return posts.map { post in
            var post = post
            if let author = post.author, left.contains(author) { post.authorName = nil }
            return post
        }
    }

    /// The post that a request has made which is now repeated; `nil` for none.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if its key was used for another post.
    func repeatedPost(_ command: AddPost, by account: AccountName) throws -> PostDocument? {
        guard let request = command.request(of: account) else { return nil }
        let query = Query(where: StudyStore.postRequest == request)
        guard let known = try page(of: StudyStore.posts, query, limit: 1).documents.first?.document else { return nil }
        guard known.session == command.session, known.text == command.text else { throw CommandFailure.reusedKey(for: "post") }
        return known
    }
}

extension PostDocument {
    /// The post as the persons of its class see it.
    ///
    /// - Parameter showsRemoval: Whether they also see who has removed it, and when.
    func view(showsRemoval: Bool) -> SessionPost {
        let removal = removed.map { time in
            SessionPost.Removal(at: time, by: removedByName, number: removedByName == nil ? removedByNumber : nil)
        }
        return SessionPost(
            id: id, author: authorName, number: authorName == nil ? number : nil, role: role, text: text, at: at,
            removed: showsRemoval ? removal : nil)
    }
}

extension CommandFailure {
    static func noPost(_ id: ObjectID) -> CommandFailure { CommandFailure(.notFound, "no post \(id)") }
}
