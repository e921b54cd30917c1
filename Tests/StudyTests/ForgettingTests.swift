import Base
import Schemas
import ServiceKit
import Store
import TestSupport
import Testing

@testable import Study

/// How long the history of a class has names, and how long it is kept.
@Suite("Forgetting past sessions", .timeLimit(.minutes(10)))
struct ForgettingTests {
    private static let day = Milliseconds.seconds(86_400)
    private static let ended: UnixMilliseconds = 1_796_000_000_000

    private static func attendance(_ name: AccountName, number: Int, at session: SessionDocument) -> AttendanceDocument {
        AttendanceDocument(
            id: ObjectID(), session: session.id, classID: session.classID, account: name.key, name: name, number: number,
            joined: session.starts, since: session.starts, left: nil, before: 0)
    }

    private static func post(_ text: String, by name: AccountName, number: Int, to session: SessionDocument) -> PostDocument {
        PostDocument(
            id: ObjectID(), session: session.id, classID: session.classID, author: name.key, authorName: name, number: number,
            role: .student, text: text, at: session.starts, news: nil, removed: session.starts, removedBy: "tara",
            removedByName: "tara", removedByNumber: 9, request: nil)
    }

    /// Stores a session that has ended, with two attendants and many posts.
    private static func add(namesUntil: UnixMilliseconds, posts: Int = 3, to store: Storage) async throws -> SessionDocument {
        let open = SessionDocument.stored(host: "ann", starts: ended - .seconds(3_600), ends: ended)
        var session = open.ending(at: ended, namesUntil: namesUntil)
        session.attendants.append(.stored("ben", number: 3, joined: ended - .seconds(60)))
        let stored = session
        try await store.transaction { transaction in
            try transaction.insert(stored, into: StudyStore.sessions)
            try transaction.insert(attendance("ann", number: 2, at: stored), into: StudyStore.attendances)
            try transaction.insert(attendance("ben", number: 3, at: stored), into: StudyStore.attendances)
            try transaction.insert(
                all: (0..<posts).map { post("post \($0)", by: "ben", number: 3, to: stored) }, into: StudyStore.posts)
        }
        return session
    }

    private struct Left: Equatable {
        var session: SessionDocument?
        var attendances: [AttendanceDocument]
        var posts: [PostDocument]

        init(of session: ObjectID, in store: Storage) async throws {
            self.session = try await store.get(session, from: StudyStore.sessions)?.document
            attendances = try await store.page(of: StudyStore.attendances, limit: 2_000).documents.map(\.document)
                .filter { $0.session == session }
            posts = try await store.page(of: StudyStore.posts, limit: 2_000).documents.map(\.document)
                .filter { $0.session == session }
        }
    }

    @Test("Names go at their time, and numbers, texts, topics and times stay", arguments: StoreKind.ofRules)
    func names(kind: StoreKind) async throws {
        try await withStudyStore(kind) { store in
            let clock = TestClock(Self.ended + Self.day)
            let forgetting = Forgetting(store: store, retention: LiveSetting(0), now: { clock.now })
            // More than one page of posts.
            let session = try await Self.add(namesUntil: Self.ended + Self.day + 1, posts: 501, to: store)
            let later = try await Self.add(namesUntil: Self.ended + Self.day + Self.day, to: store)
            let before = try await Left(of: session.id, in: store)
            try await forgetting.round()
            #expect(try await Left(of: session.id, in: store) == before)

            clock.pass(1)
            try await forgetting.round()
            let after = try await Left(of: session.id, in: store)
            let stored = try #require(after.session)
            #expect(stored.host == nil && stored.hostName == nil && stored.place == nil && stored.placeName == nil)
            #expect(stored.attendants.isEmpty && stored.namesUntil == nil && stored.hostNumber == 2)
            #expect(stored.topics == session.topics && stored.starts == session.starts && stored.ended == session.ended)
            #expect(after.attendances.allSatisfy { $0.account == nil && $0.name == nil })
            #expect(after.attendances.map(\.number).sorted() == [2, 3])
            #expect(after.posts.count == 501 && after.posts.allSatisfy { $0.author == nil && $0.authorName == nil })
            #expect(after.posts.allSatisfy { $0.removedBy == nil && $0.removedByName == nil && $0.removedByNumber == 9 })
            #expect(Set(after.posts.map(\.text)) == Set(before.posts.map(\.text)))
            #expect(try await Left(of: later.id, in: store).session == later)
            try await forgetting.round()
            #expect(try await Left(of: session.id, in: store) == after)
        }
    }

    @Test("What an interrupted round has left is finished by the next one")
    func interrupted() async throws {
        try await withStudyStore(.sqlite) { store in
            let session = try await Self.add(namesUntil: Self.ended + 1, to: store)
            let first = try #require(try await Left(of: session.id, in: store).attendances.first)
            try await store.update(first.id, in: StudyStore.attendances) { attendance in
                attendance.account = nil
                attendance.name = nil
            }
            try await Forgetting(store: store, retention: LiveSetting(0), now: { Self.ended + 1 }).round()
            let left = try await Left(of: session.id, in: store)
            #expect(left.session?.host == nil && left.attendances.allSatisfy { $0.account == nil })
            #expect(left.posts.allSatisfy { $0.author == nil })
        }
    }

    @Test(
        "Sessions are removed after the retention with all that belongs to them, and never without one",
        arguments: StoreKind.ofRules)
    func retention(kind: StoreKind) async throws {
        try await withStudyStore(kind) { store in
            let clock = TestClock(Self.ended + Self.day * 30 - 1)
            let days = LiveSetting(0)
            let forgetting = Forgetting(store: store, retention: days, now: { clock.now })
            let old = try await Self.add(namesUntil: Self.ended + Self.day * 365, posts: 501, to: store)
            let open = SessionDocument.stored(host: "cleo", starts: Self.ended, ends: Self.ended + Self.day * 400)
            try await store.insert(open, into: StudyStore.sessions)
            let month = Forgetting(store: store, retention: LiveSetting(30), now: { clock.now })
            try await month.round()
            #expect(try await Left(of: old.id, in: store).session == old)
            clock.pass(1)
            try await forgetting.round()
            #expect(try await Left(of: old.id, in: store).session == old)
            try await month.round()
            let left = try await Left(of: old.id, in: store)
            #expect(left.session == nil && left.attendances.isEmpty && left.posts.isEmpty)
            #expect(try await store.get(open.id, from: StudyStore.sessions)?.document == open)
        }
    }
}
