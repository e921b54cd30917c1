import Base
import Schemas
import Store

/// The parts of the erasure of a person. Each changes a page of documents, which it does not find the next time.
extension StudyChange {
    /// Notes that a person is erased, and writes the person's document: a simultaneous join then runs again, and is refused.
    mutating func refuseErased(_ account: AccountName) throws {
        let erased = ErasedPersonDocument(
            id: ErasedPersonDocument.identifier(of: account), expires: now + PersonLimits.endedTime)
        try transaction.overwrite(with: erased, in: StudyStore.erased)
        try changePerson(account) { _ in }
    }

    /// The person leaves a class, as after `class.leave`. A class whose professor they were has none.
    ///
    /// - Returns: 1, or 0 if the person is in no class.
    mutating func removeMembership(of account: AccountName) throws -> Int {
        guard let member = try transaction.enrolments(of: account.key).first else { return 0 }
        try remove(member)
        return 1
    }

    /// Posts of the person are removed, and not only from public view.
    mutating func erasePosts(of account: String, limit: Int) throws -> Int {
        let query = Query(where: StudyStore.postAuthor == account)
        let found = try transaction.page(of: StudyStore.posts, query, limit: limit).documents.map(\.document)
        try transaction.delete(found.map(\.id), from: StudyStore.posts)
        for (id, posts) in Dictionary(grouping: found, by: \.session) {
            guard let session = try transaction.get(id, from: StudyStore.sessions)?.document else { continue }
            let shown = posts.count { $0.removed == nil }
            let news = try session.news.flatMap { news in
                let left = try transaction.authors(ofPostsToldAt: news.due, in: session)
                return SessionDocument.News(due: news.due, authors: left)
            }
            try update(id, of: session.classID) { session in
                session.posts = max(0, session.posts - shown)
                session.news = news
            }
            changed(.inClass(session.classID, .posts, session: id))
        }
        return found.count
    }

    /// That the person has removed posts: their number stays.
    mutating func eraseRemover(_ account: String, limit: Int) throws -> Int {
        let query = Query(where: StudyStore.postRemovedBy == account)
        let found = try transaction.page(of: StudyStore.posts, query, limit: limit).documents.map(\.document)
        for post in found {
            try transaction.update(post.id, in: StudyStore.posts) { post in
                post.removedBy = nil
                post.removedByName = nil
            }
        }
        return found.count
    }

    /// The person's number stays in the history of sessions, without the name.
    mutating func eraseAttendances(of account: String, limit: Int) throws -> Int {
        let query = Query(
            where: StudyStore.attendanceAccount == account, order: .ascending(StudyStore.attendanceJoined))
        let found = try transaction.page(of: StudyStore.attendances, query, limit: limit).documents.map(\.document)
        for attendance in found {
            try transaction.update(attendance.id, in: StudyStore.attendances) { attendance in
                attendance.account = nil
                attendance.name = nil
            }
            guard try transaction.get(attendance.session, from: StudyStore.sessions) != nil else { continue }
            try update(attendance.session, of: attendance.classID) { session in
                session.attendants.removeAll { $0.account == account }
                // An earlier version has not stored who chose the place. Who was there from the start has started the session.
                if session.placedBy == nil, attendance.joined == session.starts { session.forgetPlace() }
            }
        }
        return found.count
    }

    /// What the person has said about sessions of theirs goes, and the place: it may be where they were.
    mutating func eraseHost(_ account: String, limit: Int) throws -> Int {
        let query = Query(where: StudyStore.sessionHost == account)
        let found = try transaction.page(of: StudyStore.sessions, query, limit: limit).documents.map(\.document)
        for session in found {
            try update(session.id, of: session.classID) { session in
                session.forgetHost()
                session.description = nil
            }
        }
        return found.count
    }

    /// The places that the person has chosen for sessions that others host by now.
    mutating func erasePlaces(of account: String, limit: Int) throws -> Int {
        let query = Query(where: StudyStore.sessionPlacedBy == account)
        let found = try transaction.page(of: StudyStore.sessions, query, limit: limit).documents.map(\.document)
        for session in found { try update(session.id, of: session.classID) { $0.forgetPlace() } }
        return found.count
    }

    /// Invitations to the person, and those by the person.
    mutating func eraseInvites(of account: String, limit: Int) throws -> Int {
        let queries: [Query<InviteDocument>] = [
            Query(where: StudyStore.inviteTo == account), Query(where: StudyStore.inviteBy == account),
        ]
        var count = 0
        for query in queries {
            let found = try transaction.page(of: StudyStore.invites, query, limit: limit).documents.map(\.document)
            for invite in found where invite.to != account {
                if let person = try transaction.enrolment(of: invite.to, in: invite.classID) {
                    changed(.person(person.name, .invites, id: invite.session))
                }
            }
            try transaction.delete(found.map(\.id), from: StudyStore.invites)
            count += found.count
        }
        return count
    }
}

extension SessionDocument {
    /// The host's number stays.
    mutating func forgetHost() {
        host = nil
        hostName = nil
        removePlace()
    }

    /// Removes the place, once the session has ended: those who are there need it until then.
    mutating func forgetPlace() {
        guard open == true else { return removePlace() }
        (placedBy, forgetsPlace) = (nil, true)
    }

    private mutating func removePlace() {
        (place, placeName) = (nil, nil)
        (placedBy, forgetsPlace) = (nil, nil)
    }
}
