import Base
import Schemas
import ServiceKit
import Store

/// Forgets the names of past sessions once their classes do not keep them any more, and removes sessions that are too old.
///
/// It is done in short transactions, and a session comes last: what was interrupted is finished by the next round, and several
/// instances do not disturb each other.
struct Forgetting: Sendable {
    let store: Storage
    /// For how many days sessions are kept from their end; 0 is forever.
    let retention: LiveSetting<Int>
    let now: @Sendable () -> UnixMilliseconds

    static let period = Duration.seconds(60)
    /// How many sessions a round forgets, and how many it removes.
    private static let maxPerRound = 200
    /// How many documents one transaction changes.
    private static let pageSize = 500

    /// One round, which leaves to the next one what is more.
    func round() async throws {
        let now = now()
        let named = Query(
            where: StudyStore.sessionNamesUntil <= now, order: .ascending(StudyStore.sessionNamesUntil))
        let toForget = try await store.page(of: StudyStore.sessions, named, limit: Self.maxPerRound)
        for session in toForget.documents { try await forgetNames(of: session.id, at: now) }

        let days = retention.value
        guard days > 0 else { return }
        let limit = now - .seconds(Int64(days).multiplied(by: 86_400))
        let old = Query(where: StudyStore.sessionEnded <= limit, order: .ascending(StudyStore.sessionEnded))
        let toRemove = try await store.page(of: StudyStore.sessions, old, limit: Self.maxPerRound)
        for session in toRemove.documents { try await remove(session.id) }
    }

    private static func attendances(of session: ObjectID) -> Query<AttendanceDocument> {
        Query(where: StudyStore.attendanceSession == session, order: .ascending(StudyStore.attendanceJoined))
    }

    private static func posts(to session: ObjectID) -> Query<PostDocument> {
        Query(where: StudyStore.postSession == session, order: .ascending(StudyStore.postAt))
    }

    // MARK: Names

    private func forgetNames(of session: ObjectID, at now: UnixMilliseconds) async throws {
        try await forEachPage(of: StudyStore.attendances, Self.attendances(of: session)) { transaction, attendance in
            guard attendance.account != nil else { return }
            try transaction.update(attendance.id, in: StudyStore.attendances) { attendance in
                attendance.account = nil
                attendance.name = nil
            }
        }
        try await forEachPage(of: StudyStore.posts, Self.posts(to: session)) { transaction, post in
            guard post.author != nil || post.removedBy != nil else { return }
            try transaction.update(post.id, in: StudyStore.posts) { post in
                (post.author, post.authorName) = (nil, nil)
                (post.removedBy, post.removedByName) = (nil, nil)
            }
        }
        try await store.transaction { transaction in
            guard let until = try transaction.get(session, from: StudyStore.sessions)?.namesUntil, until <= now else { return }
            try transaction.update(session, in: StudyStore.sessions) { session in
                session.forgetHost()
                session.attendants = []
                session.namesUntil = nil
            }
        }
    }

    private func forEachPage<Document>(
        of collection: Collection<Document>, _ query: Query<Document>,
        _ body: @escaping @Sendable (Transaction, Document) throws -> Void
    ) async throws {
        var cursor: Cursor?
        repeat {
            cursor = try await store.transaction { [cursor] transaction in
                let page = try transaction.page(of: collection, query, after: cursor, limit: Self.pageSize)
                for stored in page.documents { try body(transaction, stored.document) }
                return page.next
            }
        } while cursor != nil
    }

    // MARK: Whole sessions

    private func remove(_ session: ObjectID) async throws {
        try await removeAll(of: StudyStore.posts, Self.posts(to: session))
        try await removeAll(of: StudyStore.attendances, Self.attendances(of: session))
        try await store.transaction { try $0.delete([session], from: StudyStore.sessions) }
    }

    private func removeAll<Document>(of collection: Collection<Document>, _ query: Query<Document>) async throws {
        var isLast = false
        while !isLast {
            isLast = try await store.transaction { transaction in
                let page = try transaction.page(of: collection, query, limit: Self.pageSize)
                try transaction.delete(page.documents.map(\.document.id), from: collection)
                return page.next == nil
            }
        }
    }
}
