import Schemas
import Testing

@testable import Chaos

/// The checks of the people who studied in a chaos run, on evidence made by the tests.
@Suite("The verdict about people who study")
struct StudyVerdictTests {
    /// In Unix milliseconds.
    static let start: Int64 = 1_795_262_400_000
    static let id = ObjectID()

    private static func time(_ seconds: Int64) -> UnixMilliseconds { UnixMilliseconds(rawValue: start + seconds * 1_000) }
    private static func name(_ text: String) throws -> AccountName { try #require(AccountName(text)) }

    private static func attendance(_ account: String, at seconds: Int64) throws -> PastAttendance {
        PastAttendance(person: PastPerson(account: try name(account), number: 1), joined: time(seconds), minutes: 1)
    }

    static func past(
        _ attendants: [PastAttendance], ended: Int64 = 120, _ reason: SessionEnd = .host, host: String = "ann", posts: Int = 0
    ) throws -> PastSession {
        PastSession(
            id: id, topics: ["Trees"], description: nil, placeName: nil, starts: time(0), ended: time(ended), reason: reason,
            sponsored: false, host: PastPerson(account: try name(host), number: 1), attendants: attendants, posts: posts)
    }

    static func push(_ kind: PushKind, to account: String, _ state: DeliveryState = .accepted) -> StudyEvidence.Push {
        StudyEvidence.Push(kind: kind, session: id, account: account, state: state, name: state == .accepted ? "n" : nil)
    }

    /// Ann has started a session of five minutes, Ben has joined it after ten seconds, and Ann has ended it after two minutes. The professor
    /// was told that it began.
    static func evidence() throws -> StudyEvidence {
        var evidence = StudyEvidence(steps: [])
        var session = StudyRecords.Session()
        session.starter = "ann"
        session.begun = start
        session.minutes = [5]
        session.joined = ["ben"]
        session.visitors = ["ben"]
        session.leavers = ["ann"]
        session.enders = ["ann"]
        evidence.records.sessions[id] = session
        evidence.past[id] = try past([attendance("ann", at: 0), attendance("ben", at: 10)])
        evidence.posts[id] = []
        evidence.publicPosts[id] = []
        evidence.announced = ["prof"]
        evidence.pushes = [push(.sessionNew, to: "prof"), push(.sessionJoin, to: "ann"), push(.sessionEnded, to: "ben")]
        evidence.names = ["n"]
        evidence.arrivals = [
            StudyEvidence.Arrival(
                place: .init(kind: "session_ended", session: "\(id)", account: "ben"), name: "n", received: start + 120_000)
        ]
        return evidence
    }

    private static func problems(_ change: (inout StudyEvidence) throws -> Void) throws -> [String] {
        var evidence = try evidence()
        try change(&evidence)
        return StudyVerdict(evidence).problems
    }

    @Test("A session that is as people were answered, with its pushes, is not a problem")
    func good() throws {
        let verdict = StudyVerdict(try Self.evidence())
        #expect(verdict.problems == [])
        let figures = "sessions=1 by_time=0 left=0 handed_over=0 joined=1 posts=0 arrived=1 compared=0"
        #expect(verdict.summary == "study: \(figures) attendances=2 pushes=3 doubled=0 problems=0")
    }

    @Test("A session outlives neither its plan nor its host's absence, and does not end without a reason")
    func ends() throws {
        // Everybody stays until the end, of which both are told.
        func withEnd(
            _ seconds: Int64, _ reason: SessionEnd, _ change: (inout StudyRecords.Session) -> Void = { _ in }
        ) throws -> [String] {
            try Self.problems { evidence in
                evidence.past[Self.id] = try Self.past(
                    [Self.attendance("ann", at: 0), Self.attendance("ben", at: 10)], ended: seconds, reason)
                evidence.records.sessions[Self.id]?.leavers = []
                evidence.records.sessions[Self.id]?.enders = []
                evidence.pushes.append(Self.push(.sessionEnded, to: "ann"))
                if var session = evidence.records.sessions[Self.id] {
                    change(&session)
                    evidence.records.sessions[Self.id] = session
                }
            }
        }
        #expect(try withEnd(300, .time) == [])
        #expect(try withEnd(299, .time).count == 1)
        #expect(try withEnd(301, .time).count == 2, "it has also lasted too long")
        #expect(try withEnd(120, .staff).count == 1, "nobody has asked for its end")
        #expect(try withEnd(120, .left).count == 1, "no report was from outside")
        #expect(try withEnd(120, .left) { $0.endsByLeaving = [Self.time(120)] } == [])
        #expect(try withEnd(120, .left) { $0.hasOpenReport = true } == [])
        #expect(try withEnd(300, .time) { $0.mustEndBy = Self.time(200) }.count == 1)
        #expect(try withEnd(120, .restored).count == 1)
    }

    @Test("Who was answered that they are there is in the history, and nobody else is")
    func attendants() throws {
        let lost = try Self.problems { evidence in
            evidence.past[Self.id] = try Self.past([Self.attendance("ann", at: 0)])
            evidence.pushes.removeAll { $0.kind == .sessionJoin }
        }
        #expect(lost == ["ben was at \(Self.id), and is not in its history"])
        let stranger = try Self.problems { evidence in
            evidence.past[Self.id] = try Self.past(
                [Self.attendance("ann", at: 0), Self.attendance("ben", at: 10), Self.attendance("eve", at: 20)])
            evidence.pushes.append(Self.push(.sessionJoin, to: "ann"))
        }
        #expect(stranger == ["eve is in the history of \(Self.id), and was never there"])
        #expect(try Self.problems { $0.past = [:] }.contains { $0.hasSuffix("is not in the history") })
    }

    @Test("The lists and the persons agree on who is where, and nobody is in two sessions")
    func places() throws {
        func session(_ id: ObjectID, _ accounts: String...) throws -> StudySession {
            StudySession(
                id: id, classID: ObjectID(), topics: ["Trees"], description: nil, place: nil, starts: Self.time(0),
                ends: Self.time(300), sponsored: false, host: nil, hostRole: .student,
                attendants: try accounts.map { try Self.name($0) }, room: 10)
        }
        let (one, other) = (ObjectID(), ObjectID())
        let open = [try session(one, "ann", "ben"), try session(other, "carl")]
        #expect(StudyEvidence.differences(open, ["ann": one, "ben": one, "carl": other]) == [])
        #expect(StudyEvidence.differences(open, ["ann": one, "carl": other]).count == 1)
        #expect(StudyEvidence.differences(open, ["ann": one, "ben": one, "carl": other, "dora": one]).count == 1)
        let doubled = [try session(one, "ann"), try session(other, "ann")]
        #expect(StudyEvidence.differences(doubled, ["ann": other]).count == 1)
    }

    @Test("A push comes as often as there is a reason, and neither to the one who has caused it nor to others")
    func pushes() throws {
        func count(_ change: (inout [StudyEvidence.Push]) -> Void) throws -> Int {
            try Self.problems { change(&$0.pushes) }.count
        }
        for kind in [PushKind.sessionNew, .sessionJoin, .sessionEnded] {
            #expect(try count { $0.removeAll { $0.kind == kind } } == (kind == .sessionEnded ? 2 : 1), "\(kind) is missing")
        }
        #expect(try count { $0.append(Self.push(.sessionEnded, to: "ben")) } == 1, "twice")
        #expect(try count { $0.append(Self.push(.sessionEnded, to: "ann")) } == 1, "she has ended it")
        #expect(try count { $0.append(Self.push(.sessionJoin, to: "ben")) } == 2, "he has joined it")
        #expect(try count { $0.append(Self.push(.sessionNew, to: "ann")) } == 1, "she has started it")
        #expect(try count { $0.append(Self.push(.sessionPost, to: "ben")) } == 1, "nobody has posted")
        #expect(try count { $0.append(Self.push(.sessionEnding, to: "ben")) } == 1, "it is too short for that")
        #expect(try count { $0.append(Self.push(.sessionHost, to: "ben")) } == 1, "it was not handed over")
        #expect(try count { $0.append(Self.push(.sessionInvite, to: "eve")) } == 1, "she has no part in it")
        #expect(try Self.problems { $0.names = [] }.count == 3, "FCM does not have them")
        let end = try Self.problems { $0.pushes[0].hasEnded = false }
        #expect(end.count == 1)
    }

    @Test("Invitations and hand-overs are told once each; what may not have been done may be told")
    func invitations() throws {
        for (kind, place) in [
            (PushKind.sessionInvite, \StudyRecords.Session.invites), (PushKind.sessionHost, \StudyRecords.Session.handOvers),
        ] {
            for (certain, possible, found, isGood) in [
                (1, 1, 1, true), (1, 1, 0, false), (0, 1, 0, true), (0, 1, 1, true), (0, 0, 1, false), (1, 1, 2, false),
            ] {
                let problems = try Self.problems { evidence in
                    evidence.records.sessions[Self.id]?[keyPath: place]["ben"] = StudyRecords.Count(
                        certain: certain, possible: possible)
                    for _ in 0..<found { evidence.pushes.append(Self.push(kind, to: "ben")) }
                }
                #expect(problems.isEmpty == isGood, "\(kind) \(certain) \(possible) \(found): \(problems)")
            }
        }
    }

    @Test("A push that has expired before its person's devices were known is not missing")
    func forgotten() throws {
        let forgotten = try Self.problems { evidence in
            evidence.pushes = evidence.pushes.map { Self.push($0.kind, to: "", .expired) }
            evidence.arrivals = []
        }
        #expect(forgotten == [])
    }

    @Test("If the clock was set before the end was noticed, nobody may have been told of it, but nobody twice")
    func clockSteps() throws {
        func problems(_ steps: [ClosedRange<Int64>], told count: Int) throws -> [String] {
            try Self.problems { evidence in
                evidence.past[Self.id] = try Self.past(
                    [Self.attendance("ann", at: 0), Self.attendance("ben", at: 10)], ended: 300, .time)
                evidence.records.sessions[Self.id]?.leavers = []
                evidence.records.sessions[Self.id]?.enders = []
                evidence.steps = steps
                evidence.pushes.removeAll { $0.kind == .sessionEnded }
                evidence.arrivals = []
                for account in ["ann", "ben"] {
                    for _ in 0..<count { evidence.pushes.append(Self.push(.sessionEnded, to: account)) }
                }
            }
        }
        let early = Self.start + 100_000...Self.start + 105_000
        let late = Self.start + 301_000...Self.start + 306_000
        #expect(try problems([early], told: 1) == [])
        #expect(try problems([early], told: 0).count == 2)
        #expect(try problems([late], told: 0) == [])
        #expect(try problems([late], told: 2).count == 2)
    }

    @Test("Who stays in a long session is told once that it ends soon, unless the clock was set before")
    func warnings() throws {
        func problems(told count: Int, _ steps: [ClosedRange<Int64>] = []) throws -> [String] {
            try Self.problems { evidence in
                evidence.past[Self.id] = try Self.past(
                    [Self.attendance("ann", at: 0), Self.attendance("ben", at: 10)], ended: 500)
                evidence.records.sessions[Self.id]?.minutes = [15]
                evidence.steps = steps
                for _ in 0..<count { evidence.pushes.append(Self.push(.sessionEnding, to: "ben")) }
            }
        }
        #expect(try problems(told: 1) == [])
        #expect(try problems(told: 0).count == 1)
        #expect(try problems(told: 2).count == 1)
        #expect(try problems(told: 0, [Self.start + 60_000...Self.start + 65_000]) == [])
    }

    @Test("The first post is told to those who are there; with a clock that was set nobody knows who was")
    func firstPost() throws {
        func problems(at seconds: Int64, told count: Int, _ steps: [ClosedRange<Int64>] = []) throws -> [String] {
            try Self.problems { evidence in
                let post = SessionPost(
                    id: ObjectID(), author: try Self.name("ann"), number: nil, role: .student, text: "a", at: Self.time(seconds),
                    removed: nil)
                evidence.records.posts["a"] = StudyRecords.Post(session: Self.id, author: "ann", id: post.id)
                evidence.posts[Self.id] = [post]
                evidence.publicPosts[Self.id] = [post]
                evidence.past[Self.id] = try Self.past(
                    [Self.attendance("ann", at: 0), Self.attendance("ben", at: 10)], posts: 1)
                evidence.steps = steps
                for _ in 0..<count { evidence.pushes.append(Self.push(.sessionPost, to: "ben")) }
            }
        }
        #expect(try problems(at: 60, told: 1) == [])
        #expect(try problems(at: 60, told: 0).count == 1)
        #expect(try problems(at: 5, told: 0) == [], "he has come later")
        #expect(try problems(at: 60, told: 0, [Self.start + 20_000...Self.start + 25_000]) == [])
        #expect(try problems(at: 60, told: 5).count == 1, "more than one a minute")
    }

    @Test("Each post is there once, and a removed one is for the professor alone")
    func posts() throws {
        func post(_ text: String, by author: String, removedBy: String? = nil, id: ObjectID = ObjectID()) throws -> SessionPost {
            SessionPost(
                id: id, author: try Self.name(author), number: nil, role: .student, text: text, at: Self.time(60),
                removed: try removedBy.map { SessionPost.Removal(at: Self.time(70), by: try Self.name($0), number: nil) })
        }
        let (kept, removed) = (try post("a", by: "ben"), try post("b", by: "ben", removedBy: "prof"))
        func problems(_ change: (inout StudyEvidence) throws -> Void) throws -> [String] {
            try Self.problems { evidence in
                for post in [kept, removed] {
                    evidence.records.posts[post.text] = StudyRecords.Post(session: Self.id, author: "ben", id: post.id)
                }
                evidence.records.posts["b"]?.removers = ["prof"]
                evidence.records.posts["b"]?.isRemoved = true
                evidence.posts[Self.id] = [kept, removed]
                evidence.publicPosts[Self.id] = [kept]
                evidence.past[Self.id] = try Self.past(
                    [Self.attendance("ann", at: 0), Self.attendance("ben", at: 10)], posts: 1)
                evidence.pushes.append(Self.push(.sessionPost, to: "ann"))
                try change(&evidence)
            }
        }
        #expect(try problems { _ in } == [])
        #expect(try problems { $0.posts[Self.id] = [removed] }.contains("lost: a"))
        #expect(try problems { $0.posts[Self.id]?.append(kept) }.contains("a post is there twice: a"))
        #expect(try problems { $0.publicPosts[Self.id] = [kept, removed] }.count == 1)
        #expect(try problems { $0.records.posts["b"]?.removers = [] }.count == 1)
        #expect(try problems { $0.records.posts["a"]?.isRemoved = true }.count == 1)
        #expect(try problems { $0.records.posts["a"] = nil }.count == 1)
        #expect(try problems { $0.pushes.append(Self.push(.sessionPost, to: "ben")) }.count == 1, "he has written both")
    }

    @Test("The audit log has each moderation once, and no join")
    func audit() throws {
        func entry(_ action: String, _ kind: String, _ id: ObjectID) -> AuditEntry {
            AuditEntry(
                at: Self.time(120), by: AuditAuthor(actor: "prof"), action: action,
                object: AuditObject(kind: kind, id: "\(id)"))
        }
        var evidence = try Self.evidence()
        evidence.past[Self.id] = try Self.past([], .staff)
        let end = entry("study_session.end", "study_session", Self.id)
        #expect(StudyVerdict.problems(ofAudit: [end], evidence) == [])
        #expect(StudyVerdict.problems(ofAudit: [], evidence).count == 1)
        #expect(StudyVerdict.problems(ofAudit: [end, end], evidence).count == 1)
        let join = entry("study_session.join", "study_session", Self.id)
        #expect(StudyVerdict.problems(ofAudit: [end, join], evidence).count == 2)
    }
}
