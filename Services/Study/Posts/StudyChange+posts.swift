import Base
import Schemas
import Store

extension StudyChange {
    /// Adds a post to an open session. Repeated with the same key, it finds the same post.
    ///
    /// - Throws: ``CommandFailure``: `not_found`; `conflict` with the field `ended` or `request_key`.
    mutating func add(_ command: AddPost, by account: AccountName) throws -> PostDocument {
        let member = try transaction.require(.post, of: account, in: command.classID).member
        if let known = try transaction.repeatedPost(command, by: account) { return known }
        _ = try transaction.openSession(command.session, for: member, at: now, rules)
        // An erasure of the person then conflicts with it, and leaves no post.
        try changePerson(account) { _ in }
        // First, so that of two simultaneous repetitions one waits here, or runs again, and then finds the other one's post.
        let session = try apply(.posted(by: account.key), to: command.session, of: command.classID).session
        let post = PostDocument(
            id: ObjectID(), session: command.session, classID: command.classID, author: member.account,
            authorName: member.name, number: member.number, role: member.role, text: command.text, at: now,
            news: session.news?.due, removed: nil, removedBy: nil, removedByName: nil, removedByNumber: nil,
            request: command.request(of: account))
        try transaction.insert(post, into: StudyStore.posts)
        changed(.inClass(command.classID, .posts, session: command.session))
        return post
    }

    /// Removes a post from public view. The professor still sees it.
    ///
    /// - Returns: `false` if it was removed already.
    /// - Throws: ``CommandFailure``: `not_found` if the person does not see it, `forbidden`.
    mutating func remove(_ command: RemovePost, by account: AccountName) throws -> Bool {
        let member = try transaction.require(.readPosts, of: account, in: command.classID).member
        let session = try transaction.session(command.session, of: command.classID)
        guard let post = try transaction.get(command.id, from: StudyStore.posts)?.document, post.session == session.id else {
            throw CommandFailure.noPost(command.id)
        }
        let isOwn = post.author == account.key
        let isSeen = try transaction.mayReadPosts(of: session, member, at: now, rules)
        guard isOwn || isSeen else { throw CommandFailure.noPost(command.id) }
        guard post.removed == nil else {
            let seesRemoved = ClassAction.readRemovedPosts.isAllowed(to: member.role)
            guard seesRemoved || post.removedBy == account.key else { throw CommandFailure.noPost(command.id) }
            return false
        }
        _ = try transaction.require(isOwn ? .removeOwnPost : .remove(postOf: post.role), of: account, in: command.classID)
        // As for a new post: no erasure misses who has removed it.
        try changePerson(account) { _ in }
        // The class may have forgotten the names of this session already.
        let keepsNames = session.ended == nil || session.namesUntil != nil
        let time = now
        try transaction.update(post.id, in: StudyStore.posts) { post in
            post.removed = time
            post.removedBy = keepsNames ? member.account : nil
            post.removedByName = keepsNames ? member.name : nil
            post.removedByNumber = member.number
        }
        if session.isOpen(at: now, rules) {
            var authors: Set<String>?
            if let news = session.news, post.news == news.due {
                authors = try transaction.authors(ofPostsToldAt: news.due, in: session)
            }
            _ = try apply(.postRemoved(waiting: authors), to: session.id, of: session.classID)
        } else {
            try update(session.id, of: session.classID) { $0.posts = max(0, $0.posts - 1) }
        }
        changed(.inClass(command.classID, .posts, session: session.id))
        if !isOwn { record(RemovePost.name, .studyPost(post.id), before: post.audited) }
        return true
    }
}

extension AddPost {
    func request(of account: AccountName) -> String? { RequestHash.text(requestKey, of: account, for: "post") }
}

extension PostDocument {
    /// What the audit log has of it: not the text.
    fileprivate var audited: JSONValue {
        var fields: JSONValue = [
            "class": .string("\(classID)"), "session": .string("\(session)"), "role": .string(role.rawValue),
        ]
        fields["author"] = authorName.map { JSONValue.string($0.description) }
        return fields
    }
}
