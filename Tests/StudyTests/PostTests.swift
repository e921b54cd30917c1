import Base
import Bus
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// Posts to sessions: who writes, reads and removes them.
@Suite("Posts over the bus", .timeLimit(.minutes(10)))
struct PostTests {
    @Test("All of a class write and read in an open session, attending or not, and nobody else", arguments: StoreKind.ofRules)
    func open(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo"], assistants: ["tara"])
            let other = try await study.addClass("CHE-1", named: "Chemistry", by: "dora").id
            let session = try await study.person("ann").beginsSession(in: id)
            try await study.person("ben").comes(to: session, of: id)
            var texts: [String] = []
            for name in ["ann", "ben", "cleo", "tara", "prof"] as [AccountName] {
                clock.pass(.seconds(1))
                let post = try await study.person(name).posts("by \(name)", to: session, of: id)
                #expect(post.author == name && post.number == nil && post.at == clock.now && post.removed == nil)
                texts.insert("by \(name)", at: 0)
            }
            for name in ["ann", "ben", "cleo", "tara", "prof"] as [AccountName] {
                let seen = try await study.person(name).readsPosts(to: session, of: id)
                #expect(seen.map(\.text) == texts)
                #expect(seen.map(\.role) == [.professor, .assistant, .student, .student, .student])
            }
            var (pages, after): ([String], String?) = ([], nil)
            repeat {
                let page = try await study.person("cleo").request(ListPosts(to: session, of: id, limit: 2, after: after))
                #expect(page.posts.count <= 2 && page.now == clock.now)
                pages += page.posts.map(\.text)
                after = page.next
            } while after != nil
            #expect(pages == texts)

            for (person, place) in [("dora", id), ("ann", other), ("dora", other), ("nobody", id)] {
                let outsider = study.person(try #require(AccountName(person)))
                for failure in [
                    await outsider.failure(of: AddPost("x", to: session, of: place)),
                    await outsider.failure(of: ListPosts(to: session, of: place, limit: 1)),
                ] {
                    #expect(failure?.status == .notFound)
                }
            }
            let long = AddPost(String(repeating: "x", count: 1_001), to: session, of: id)
            #expect(await study.person("ann").failure(of: long)?.field == "text")
            let longest = String(repeating: "ü", count: 1_000)
            #expect(try await study.person("ann").posts(longest, to: session, of: id).text == longest)
        }
    }

    @Test("A removed post is gone for all but the professor, who sees by whom and when", arguments: StoreKind.ofRules)
    func removed(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben"], assistants: ["tara", "tom"])
            let (ann, tara, prof) = (study.person("ann"), study.person("tara"), study.person("prof"))
            let session = try await ann.beginsSession(in: id)
            var posts: [AccountName: ObjectID] = [:]
            for name in ["ann", "ben", "tara", "tom", "prof"] as [AccountName] {
                clock.pass(.seconds(1))
                posts[name] = try await study.person(name).posts("by \(name)", to: session, of: id).id
            }
            func remove(_ author: AccountName, by person: TestPerson) async throws -> ReplyStatus? {
                let command = RemovePost(try #require(posts[author]), from: session, of: id)
                return await person.failure(of: command)?.status
            }
            // Others' posts: teaching assistants remove those of students, and the professor any.
            for author in ["ben", "tara", "prof"] as [AccountName] { #expect(try await remove(author, by: ann) == .forbidden) }
            for author in ["tom", "prof"] as [AccountName] { #expect(try await remove(author, by: tara) == .forbidden) }
            clock.pass(.seconds(1))
            let removal = clock.now
            for _ in 0..<2 {
                #expect(try await remove("ben", by: tara) == nil)
                #expect(try await remove("ann", by: ann) == nil)
                #expect(try await remove("tom", by: prof) == nil)
                clock.pass(.seconds(5))
            }
            // It is not there for its author either, nor for another teaching assistant.
            #expect(try await remove("ben", by: study.person("ben")) == .notFound)
            #expect(try await remove("ben", by: study.person("tom")) == .notFound)
            for person in [ann, study.person("ben"), tara] {
                #expect(try await person.readsPosts(to: session, of: id).map(\.text) == ["by prof", "by tara"])
            }
            let all = try await prof.readsPosts(to: session, of: id)
            #expect(all.map(\.text) == ["by prof", "by tom", "by tara", "by ben", "by ann"])
            #expect(all.map { $0.removed?.by?.description } == [nil, "prof", nil, "tara", "ann"])
            #expect(all.compactMap(\.removed).allSatisfy { $0.at == removal && $0.number == nil })

            try await ann.leaves(session, of: id)
            let past = try await prof.request(ListPastSessions(of: id, limit: 10)).sessions
            #expect(past.map(\.posts) == [2])
            #expect(try await remove("prof", by: prof) == nil)
            #expect(try await prof.request(ListPastSessions(of: id, limit: 10)).sessions.map(\.posts) == [1])
            #expect(await ann.failure(of: RemovePost(ObjectID(), from: session, of: id))?.status == .notFound)
        }
    }

    @Test(
        "A post that is removed while it waits for its push is not told, and those of others are", arguments: StoreKind.allCases)
    func waiting(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            let changes = pair.instances[0]
            let group = try await pair.group(named: "waiting")
            let (session, persons) = (group.sessions[0], group.persons)
            func post(by author: Int) async throws -> ObjectID {
                try await whenAvailable {
                    try await changes.make(by: .program) { change in
                        try change.add(AddPost("x", to: session, of: group.classID), by: persons[author]).id
                    }
                }
            }
            func remove(_ post: ObjectID, by author: Int) async throws -> SessionDocument.News? {
                try await whenAvailable {
                    try await changes.make(by: .program) { change in
                        _ = try change.remove(RemovePost(post, from: session, of: group.classID), by: persons[author])
                        return try change.transaction.session(session, of: group.classID).news
                    }
                }
            }
            let due = pair.clock.now + StudyLimits.postPushPeriod
            let told = try await post(by: 2)
            pair.clock.pass(-5)  // the other instance's clock is behind
            let first = try await post(by: 3)
            let second = try await post(by: 4)
            let third = try await post(by: 4)
            // Of this one the attendants know already.
            #expect(try await remove(told, by: 2) == SessionDocument.News(due: due, author: nil))
            #expect(try await remove(first, by: 3) == SessionDocument.News(due: due, author: persons[4].key))
            #expect(try await remove(second, by: 4) == SessionDocument.News(due: due, author: persons[4].key))
            #expect(try await remove(third, by: 4) == nil)
        }
    }

    @Test("The audit log has who removed whose post, without its text, and no removal of one's own")
    func audit() async throws {
        let (posts, entries) = try await RunningStudy.recorded { study -> [ObjectID] in
            let id = try await study.addClass(students: ["ann"], assistants: ["tara"])
            let session = try await study.person("ann").beginsSession(in: id)
            var posts: [ObjectID] = []
            for _ in 0..<2 { posts.append(try await study.person("ann").posts("a secret of ann", to: session, of: id).id) }
            for post in posts + posts[..<1] { try await study.person("tara").request(RemovePost(post, from: session, of: id)) }
            let own = try await study.person("ann").posts("mine", to: session, of: id)
            try await study.person("ann").request(RemovePost(own.id, from: session, of: id))
            return posts
        }
        let removals = entries.filter { $0.action == "study_post.remove" }
        #expect(removals.map(\.object.id) == posts.map(\.description) && removals.allSatisfy { $0.object.kind == "study_post" })
        #expect(removals.allSatisfy { $0.actor == "tara" && $0.before?["author"] == "ann" && $0.after == nil })
        #expect(removals.allSatisfy { $0.before?["role"] == "student" })
        for entry in entries {
            let text = String(decoding: try JSONCoder.encode(entry), as: UTF8.self)
            #expect(!text.contains("secret") && !text.contains("51500700"))
        }
    }

    @Test("After the end, who was there and the professor read, nobody writes, and one's own can still be removed")
    func ended() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo"])
            let (ann, cleo) = (study.person("ann"), study.person("cleo"))
            let session = try await ann.beginsSession(in: id)
            try await study.person("ben").comes(to: session, of: id)
            try await study.person("ben").leaves(session, of: id)
            let post = try await cleo.posts("from outside", to: session, of: id)
            clock.pass(.seconds(3_600))
            for name in ["ann", "ben", "prof"] as [AccountName] {
                #expect(try await study.person(name).readsPosts(to: session, of: id).map(\.id) == [post.id])
            }
            #expect(await cleo.failure(of: ListPosts(to: session, of: id, limit: 1))?.status == .notFound)
            for name in ["ann", "cleo", "prof"] as [AccountName] {
                let failure = await study.person(name).failure(of: AddPost("late", to: session, of: id))
                #expect(failure?.status == .conflict && failure?.field == "ended")
            }
            try await cleo.request(RemovePost(post.id, from: session, of: id))
            #expect(try await ann.readsPosts(to: session, of: id).isEmpty)
            // After a day the class is not told any more that there was one.
            clock.pass(.seconds(86_401))
            #expect(await cleo.failure(of: AddPost("late", to: session, of: id))?.status == .notFound)
            #expect(await ann.failure(of: AddPost("late", to: session, of: id))?.field == "ended")
        }
    }

    @Test("Who has left the class is a number to all but the professor", arguments: StoreKind.ofRules)
    func left(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "ben"])
            let (ann, ben) = (study.person("ann"), study.person("ben"))
            let session = try await ann.beginsSession(in: id)
            try await ben.posts("I am late", to: session, of: id)
            #expect(try await ann.readsPosts(to: session, of: id).map(\.author) == ["ben"])
            try await ben.request(LeaveClass(id))
            let seen = try await ann.readsPosts(to: session, of: id)
            #expect(seen.map(\.text) == ["I am late"] && seen.map(\.author) == [nil] && seen.map(\.number) == [3])
            #expect(try await study.person("prof").readsPosts(to: session, of: id).map(\.author) == ["ben"])
        }
    }

    @Test(
        "A repeated request makes one post, also at the same moment, and its key is the person's own",
        arguments: StoreKind.allCases)
    func repeated(kind: StoreKind) async throws {
        try await RunningStudy.with(kind, settings: ["MSI_STUDY_POSTS_PER_MINUTE": "6"]) { study in
            let id = try await study.addClass(students: ["ann", "ben"])
            let (ann, ben) = (study.person("ann"), study.person("ben"))
            let session = try await ann.beginsSession(in: id)
            let made = try await concurrently(4) { _ in try await ann.posts("once", to: session, of: id, key: "k").id }
            #expect(Set(made).count == 1)
            // A repetition is no further post, for the limit either.
            for _ in 0..<10 { #expect(try await ann.posts("once", to: session, of: id, key: "k").id == made[0]) }
            let reused = await ann.failure(of: AddPost("twice", to: session, of: id, requestKey: "k"))
            #expect(reused?.status == .conflict && reused?.field == "request_key")
            #expect(try await ben.posts("twice", to: session, of: id, key: "k").author == "ben")
            #expect(try await ben.readsPosts(to: session, of: id).count == 2)
        }
    }

    @Test("A person has some posts a minute in all sessions, and then waits; others do not")
    func limit() async throws {
        let clock = TestClock()
        try await RunningStudy.with(settings: ["MSI_STUDY_POSTS_PER_MINUTE": "3"], clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben"])
            let (ann, ben) = (study.person("ann"), study.person("ben"))
            let session = try await ann.beginsSession(in: id)
            // What is refused does not count.
            let ended = try await ben.beginsSession(in: id)
            try await ben.leaves(ended, of: id)
            for _ in 0..<4 { #expect(await ann.failure(of: AddPost("late", to: ended, of: id))?.field == "ended") }
            for number in 0..<3 { try await ann.posts("\(number)", to: session, of: id) }
            clock.pass(.seconds(20))
            let failure = await ann.failure(of: AddPost("3", to: session, of: id))
            #expect(failure?.status == .overloaded && failure?.retryAfter == 40_000)
            try await ben.posts("hello", to: session, of: id)
            clock.pass(.seconds(40))
            try await ann.posts("3", to: session, of: id)
            #expect(try await ben.readsPosts(to: session, of: id).count == 5)
        }
    }
}
