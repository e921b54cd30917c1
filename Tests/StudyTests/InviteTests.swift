import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// Invitations to sessions.
@Suite("Invitations over the bus", .timeLimit(.minutes(10)))
struct InviteTests {
    @Test(
        "Persons of the class who are not there are invited once, whoever invites, and the latest invitation counts",
        arguments: StoreKind.ofRules)
    func once(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "Cleo", "dan"], assistants: ["tara"])
            try await study.addClass("CHE-1", by: "outsider")
            let (ann, ben, cleo) = (study.person("ann"), study.person("ben"), study.person("cleo"))
            let session = try await ann.beginsSession(in: id)
            try await ben.comes(to: session, of: id)
            clock.pass(.seconds(1))
            let invited = try await ann.invites(
                "tara", "ann", "ben", "cleo", "CLEO", "outsider", "nobody", "prof", to: session, of: id)
            #expect(invited == ["tara", "cleo", "prof"] && invited[1].description == "Cleo")
            #expect(try await cleo.readsInvites().map(\.by) == ["ann"])
            clock.pass(.seconds(1))
            #expect(try await ben.invites("cleo", "dan", to: session, of: id) == ["dan"])
            #expect(try await cleo.readsInvites().map(\.by) == ["ben"])
            clock.pass(.seconds(1))
            #expect(try await ann.invites("cleo", "dan", "tara", to: session, of: id) == [])

            let seen = try await cleo.readsInvites()
            #expect(seen.map(\.session.id) == [session] && seen.map(\.by) == ["ann"] && seen.map(\.at) == [clock.now])
            #expect(try await ann.readsInvites().isEmpty)
            try await cleo.comes(to: session, of: id)
            #expect(try await cleo.readsInvites().isEmpty)
            try await ann.leaves(session, of: id)
            #expect(try await study.person("dan").readsInvites().isEmpty)
        }
    }

    @Test("Only who attends or hosts an open session invites to it")
    func allowed() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo"])
            let other = try await study.addClass("CHE-1", by: "dora").id
            let (ann, ben, prof) = (study.person("ann"), study.person("ben"), study.person("prof"))
            let session = try await ann.beginsSession(in: id)
            let command = InviteToSession(["cleo"], to: session, of: id)
            #expect(await ben.failure(of: command)?.status == .forbidden)
            #expect(await prof.failure(of: command)?.status == .forbidden)
            #expect(await study.person("dora").failure(of: command)?.status == .notFound)
            #expect(await study.person("dora").failure(of: InviteToSession([], to: session, of: other))?.status == .notFound)
            // Who hosts a session from afar does.
            let sponsored = try await prof.beginsSession(in: id, sponsored: true)
            #expect(try await prof.invites("ben", "prof", to: sponsored, of: id) == ["ben"])
            clock.pass(.seconds(3_600))
            let failure = await ann.failure(of: command)
            #expect(failure?.status == .conflict && failure?.field == "ended")
        }
    }

    @Test("A person invites so many to one session, and a request beyond the limit invites nobody")
    func limit() async throws {
        try await RunningStudy.with(settings: ["MSI_STUDY_INVITES": "2"]) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo", "dan", "eve"])
            let (ann, prof) = (study.person("ann"), study.person("prof"))
            let session = try await ann.beginsSession(in: id)
            #expect(try await ann.invites("ben", to: session, of: id) == ["ben"])
            let failure = await ann.failure(of: InviteToSession(["cleo", "dan"], to: session, of: id))
            #expect(failure?.status == .conflict && failure?.field == "accounts")
            #expect(try await study.person("cleo").readsInvites().isEmpty)
            #expect(try await ann.invites("ben", "cleo", to: session, of: id) == ["cleo"])
            // Another one has a limit of their own, and so has another session.
            try await study.person("dan").comes(to: session, of: id)
            #expect(try await study.person("dan").invites("eve", to: session, of: id) == ["eve"])
            let other = try await prof.beginsSession(in: id, sponsored: true)
            #expect(try await prof.invites("ben", "cleo", to: other, of: id) == ["ben", "cleo"])
            let crowd = InviteToSession(Array(repeating: "ben", count: StudyLimits.maxInvited + 1), to: session, of: id)
            #expect(await ann.failure(of: crowd)?.field == "accounts")
        }
    }

    @Test("A person invites at most thirty times a minute, also those whom somebody else invites in turns")
    func limitOfRequests() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo"])
            let (ann, ben) = (study.person("ann"), study.person("ben"))
            let session = try await ann.beginsSession(in: id)
            try await ben.comes(to: session, of: id)
            for _ in 0..<StudyLimits.changesPerMinute { _ = try await ann.invites("cleo", to: session, of: id) }
            let failure = await ann.failure(of: InviteToSession(["cleo"], to: session, of: id))
            #expect(failure?.status == .overloaded && failure?.retryAfter == .seconds(60))
            #expect(try await ben.invites("cleo", to: session, of: id) == [])
            clock.pass(.seconds(60))
            #expect(try await ann.invites("cleo", to: session, of: id) == [])
        }
    }

    @Test("Two who invite the same person in the same moment invite them once", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo", "dan"])
            let session = try await study.person("ann").beginsSession(in: id)
            try await study.person("ben").comes(to: session, of: id)
            let inviters: [AccountName] = ["ann", "ben"]
            let invited = try await concurrently(8) { number in
                try await study.person(inviters[number % 2]).invites("cleo", "dan", to: session, of: id)
            }
            #expect(invited.flatMap(\.self).map(\.key).sorted() == ["cleo", "dan"])
            #expect(try await study.person("cleo").readsInvites().count == 1)
        }
    }

    @Test("An invitation lasts as long as the session, whatever its end becomes, and goes with the class")
    func end() async throws {
        let clock = TestClock()
        try await RunningStudy.with(clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "ben", "cleo"])
            let (ann, ben, cleo) = (study.person("ann"), study.person("ben"), study.person("cleo"))
            let session = try await ann.beginsSession(in: id, minutes: 30)
            try await ben.comes(to: session, of: id)
            #expect(try await ben.invites("cleo", to: session, of: id) == ["cleo"])
            try await ann.request(UpdateSession(session, of: id, SessionEdit(minutes: 120)))
            clock.pass(.seconds(3_600))
            #expect(try await cleo.readsInvites().map(\.by) == ["ben"])
            // Who leaves the class is gone from others' views.
            try await ben.request(LeaveClass(id))
            #expect(try await cleo.readsInvites().isEmpty)
            #expect(try await ann.invites("cleo", to: session, of: id) == ["cleo"])
            clock.pass(.seconds(3_600))
            #expect(try await cleo.readsInvites().isEmpty)
        }
    }
}
