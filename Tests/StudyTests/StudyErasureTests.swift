import Base
import Bus
import FoundationEssentials
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// The erasure of persons in the study service.
@Suite("Erased persons in classes and sessions", .timeLimit(.minutes(10)))
struct StudyErasureTests {
    private static let erased: AccountName = "erased.student"

    private static func counts(_ reply: ErasePerson.Reply) -> [String: Int] {
        Dictionary(reply.removed.map { ($0.what, $0.count) }) { $0 + $1 }
    }

    /// The names of the files of the service's store that contain a text, in any case.
    private static func files(in folder: String, with text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("study.sqlite") }.filter { name in
            let content = try Data(contentsOf: URL(filePath: folder + "/" + name))
            return String(decoding: content, as: UTF8.self).lowercased().contains(text)
        }
    }

    @Test("A student is gone from every view and file; a number stays in the history", arguments: StoreKind.allCases)
    func student(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", Self.erased], assistants: ["tara"])
            let (ann, person, prof) = (study.person("ann"), study.person(Self.erased), study.person("prof"))
            let number = try #require(
                try await prof.request(ListClassMembers(of: id, limit: 10)).members.first { $0.account == Self.erased }
            ).number

            // A session of the person that has ended, and one of somebody else at which they were.
            let own = try await person.beginsSession(in: id)
            try await ann.comes(to: own, of: id)
            try await person.posts("lighthouses are mine", to: own, of: id)
            clock.pass(.seconds(600))
            try await person.leaves(own, of: id)
            let past = try await ann.beginsSession(in: id)
            try await person.comes(to: past, of: id)
            clock.pass(.seconds(600))
            try await person.posts("lighthouses of others", to: past, of: id)
            try await ann.leaves(past, of: id)
            // And open ones: one that they host, and one to which they have posted.
            let hosted = try await person.beginsSession(in: id)
            try await study.person("ben").comes(to: hosted, of: id)
            #expect(try await person.invites("tara", to: hosted, of: id) == ["tara"])
            let open = try await ann.beginsSession(in: id)
            for _ in 0..<2 { try await person.posts("lighthouses again", to: open, of: id) }
            let removed = try await person.posts("lighthouses, removed", to: open, of: id)
            try await person.request(RemovePost(removed.id, from: open, of: id))
            try await ann.posts("what lights?", to: open, of: id)
            #expect(try await ann.invites(Self.erased, to: open, of: id) == [Self.erased])
            // From memory.
            let near = FindNearSessions(around: Position(latitude: 51.5007, longitude: -0.1246, accuracy: 10), radius: 100)
            let shown = try await ann.request(near).sessions
            #expect(Set(shown.map(\.session.id)) == [hosted, open] && shown.contains { $0.session.host == Self.erased })

            let reply = try await whenAvailable { try await study.client.request(ErasePerson(Self.erased)) }
            #expect(try await ann.request(near).sessions.map(\.session.id) == [open])
            let counts = Self.counts(reply)
            #expect(counts["memberships"] == 1 && counts["posts"] == 5 && counts["attendances"] == 3, "\(counts)")
            #expect(counts["hosted_sessions"] == 2 && counts["invites"] == 2 && reply.stays.count == 3, "\(counts)")
            #expect(counts["pushes", default: 0] > 0, "\(counts)")
            if kind == .sqlite {
                for text in [Self.erased.key, "lighthouses"] {
                    #expect(try Self.files(in: study.folder, with: text).isEmpty, "\(text)")
                }
            }

            #expect(try await prof.request(ListClassMembers(of: id, limit: 10)).members.count == 4)
            #expect(try await prof.request(GetClass(id)).members == 4)
            let sessions = try await ann.request(ListSessions(of: id)).sessions
            #expect(sessions.map(\.id) == [open] && sessions[0].attendants == ["ann"])
            #expect(try await ann.readsPosts(to: open, of: id).map(\.text) == ["what lights?"])
            #expect(try await study.person("tara").readsInvites().isEmpty)
            let history = try await prof.request(ListPastSessions(of: id, limit: 10)).sessions
            #expect(Set(history.map(\.id)) == [own, past, hosted] && history.allSatisfy { $0.posts == 0 })
            for session in history where session.id != past {
                #expect(session.host == PastPerson(account: nil, number: number))
                #expect(session.placeName == nil && session.description == nil && session.topics == ["Waves"])
                let stays = session.attendants.filter { $0.person.number == number }
                #expect(stays.count == 1 && stays[0].person.account == nil)
            }
            #expect(history.first { $0.id == past }?.host.account == "ann")
            #expect(history.first { $0.id == past }?.attendants.map(\.person.account) == ["ann", nil])
            #expect(history.first { $0.id == own }?.attendants.map(\.minutes) == [10, 10])

            // Nothing is left for another call, and nobody comes back with an old token.
            let again = try await whenAvailable { try await study.client.request(ErasePerson("ERASED.student")) }
            #expect(again.removed.allSatisfy { $0.count == 0 })
            let key = try await study.addKey(to: id)
            let join = await person.failure(of: JoinClass(key: key.code, address: "192.0.2.1"))
            #expect(join?.status == .unauthenticated)
            let draft = ClassDraft(name: "Mine", identificationKey: "MINE")
            #expect(await person.failure(of: AddClass(draft))?.status == .unauthenticated)
            #expect(try await study.client.request(ExportPerson(Self.erased)).files == ["classes.json": []])
        }
    }

    @Test(
        "The place of a session that was handed over goes with who chose it, at its end if it is open",
        arguments: StoreKind.allCases)
    func places(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "ben", Self.erased])
            let (ann, ben, person) = (study.person("ann"), study.person("ben"), study.person(Self.erased))
            func handedOver(to next: TestPerson, _ name: AccountName) async throws -> StudySession {
                let session = try await person.start(in: id)
                try await next.join(session)
                try await person.edit(session, SessionEdit(host: name))
                return session
            }
            let past = try await handedOver(to: ann, "ann")
            try await ann.leave(past)
            let moved = try await handedOver(to: ann, "ann")
            try await ann.edit(moved, SessionEdit(place: Spot.north(50), position: Spot.person(50)))
            try await person.leave(moved)
            let open = try await handedOver(to: ben, "ben")
            #expect(try await ann.read(past).place != nil)

            _ = try await whenAvailable { try await study.client.request(ErasePerson(Self.erased)) }
            #expect(try await ann.read(past).place == nil)
            // Those who are there need it.
            #expect(try await ben.read(open).place == Spot.library)
            if kind == .sqlite { #expect(try Self.files(in: study.folder, with: Self.erased.key).isEmpty) }
            try await ben.leave(open)
            try await ann.leave(moved)
            #expect(try await ben.read(open).place == nil)
            #expect(try await ann.read(moved).place?.coordinate == Spot.north(50).coordinate)
        }
    }

    @Test(
        "A class whose professor is erased stays without one, and a moderator's removals have a number",
        arguments: StoreKind.allCases)
    func staff(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann"], assistants: ["tara"])
            let (ann, tara) = (study.person("ann"), study.person("tara"))
            let session = try await ann.beginsSession(in: id)
            let post = try await ann.posts("rude", to: session, of: id)
            try await tara.request(RemovePost(post.id, from: session, of: id))
            let sponsored = try await study.person("prof").beginsSession(in: id, sponsored: true)
            for name in ["tara", "prof"] as [AccountName] {
                let reply = try await whenAvailable { try await study.client.request(ErasePerson(name)) }
                #expect(Self.counts(reply)["memberships"] == 1)
            }
            let group = try await ann.request(GetClass(id))
            #expect(group.professor == nil && group.members == 1)
            #expect(try await ann.request(ListSessions(of: id)).sessions.map(\.id) == [session])
            _ = try await study.client.request(GiveClass(id, to: "newprof"))
            let posts = try await study.person("newprof").readsPosts(to: session, of: id)
            let removal = try #require(posts.first?.removed)
            #expect(posts.map(\.id) == [post.id] && removal.by == nil && removal.number != nil)
            let past = try await study.person("newprof").request(ListPastSessions(of: id, limit: 10)).sessions
            #expect(past.map(\.id) == [sponsored] && past.map(\.reason) == [.closed] && past[0].host.account == nil)
        }
    }

    private static func post(
        _ number: Int, to session: SessionDocument, by author: AccountName = StudyErasureTests.erased,
        at: UnixMilliseconds = 2_000, news: UnixMilliseconds? = nil
    ) -> PostDocument {
        PostDocument(
            id: ObjectID(), session: session.id, classID: session.classID, author: author.key, authorName: author, number: 3,
            role: .student, text: "\(number)", at: at, news: news, removed: nil, removedBy: nil, removedByName: nil,
            removedByNumber: nil, request: nil)
    }

    @Test(
        "Many documents are removed page by page, pushes to several lose one, and nobody is told of posts that are gone",
        arguments: StoreKind.allCases)
    func pages(kind: StoreKind) async throws {
        try await withTemporaryFolder { folder in
            let url = try await kind.newDatabaseURL()
            let session = SessionDocument.stored(host: "ann", starts: 1_000, ends: 3_601_000)
            let shared = SessionDocument.stored(host: "ben", starts: 1_000, ends: 3_601_000)
            try await withStudyStore(in: folder, database: url) { store in
                try await store.transaction { transaction in
                    var counted = session
                    counted.posts = 1_001
                    counted.news = SessionDocument.News(due: 61_000, author: Self.erased.key)
                    counted.due = .max
                    try transaction.insert(counted, into: StudyStore.sessions)
                    let posts = (0..<1_001).map { number in Self.post(number, to: session, news: 61_000) }
                    try transaction.insert(all: posts, into: StudyStore.posts)
                    // Cleo's post was told at once. Ben's and the one that goes wait, as an earlier version stores them.
                    counted = shared
                    counted.posts = 3
                    counted.told = 1_000
                    counted.news = SessionDocument.News(due: 61_000, author: nil)
                    counted.due = .max
                    try transaction.insert(counted, into: StudyStore.sessions)
                    let others = [
                        Self.post(0, to: shared, by: "cleo", at: 1_000), Self.post(1, to: shared, by: "ben"),
                        Self.post(2, to: shared),
                    ]
                    try transaction.insert(all: others, into: StudyStore.posts)
                    for to in [[Self.erased], [Self.erased, "ben"], ["ben"]] as [[AccountName]] {
                        let push = try LogPush(
                            idempotencyKey: "\(ObjectID())", accounts: to, kind: .sessionPost, fairnessKey: "study",
                            message: SessionNotice.posted.message(about: session), expires: maximumUnixMilliseconds)
                        try transaction.insert(QueuedPush(push, at: 2_000), into: StudyStore.queuedPushes)
                    }
                }
            }
            let clock = TestClock(2_000)
            try await RunningStudy.with(in: folder, database: url, clock: clock) { study in
                let reply = try await whenAvailable { try await study.client.request(ErasePerson(Self.erased)) }
                let counts = Self.counts(reply)
                #expect(counts["posts"] == 1_002 && counts["pushes"] == 2, "\(counts)")
            }
            try await withStudyStore(in: folder, database: url) { store in
                let stored = try #require(try await store.get(session.id, from: StudyStore.sessions)?.document)
                #expect(stored.posts == 0 && stored.news == nil)
                let kept = try #require(try await store.get(shared.id, from: StudyStore.sessions)?.document)
                #expect(kept.posts == 2 && kept.news == SessionDocument.News(due: 61_000, author: "ben"))
                let left = try await store.page(of: StudyStore.posts, limit: 3).documents.map(\.document)
                #expect(left.map(\.session) == [shared.id, shared.id] && !left.contains { $0.author == Self.erased.key })
                let pushes = try await store.page(of: StudyStore.queuedPushes, limit: 10).documents.map(\.document)
                #expect(try pushes.map { try $0.push.accounts } == [["ben"], ["ben"]])
                #expect(try await store.get(Self.erased.key, from: StudyStore.persons) == nil)
            }
        }
    }
}
