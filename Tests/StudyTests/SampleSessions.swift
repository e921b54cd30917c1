import Base
import Schemas

@testable import Study

extension StudyRules {
    /// The limits of the tests of pure rules.
    static let sample = limited()

    static func limited(attendants: Int = 3, sponsored: Int = 2, sessions: Int = 500) -> StudyRules {
        StudyRules(
            radius: 150, accuracy: 200, grace: 300, maxMinutes: 720, attendants: attendants, sponsored: sponsored,
            postsPerMinute: 10, invites: 50, classes: 30, members: 5_000, sessions: sessions)
    }
}

extension SessionDocument {
    /// A session of "ann" that begins at the time 0, at the ``library``.
    static func sample(
        minutes: Int = 60, sponsored: Bool = false, area: Area = .inside, attendants: [AccountName] = ["ann", "bob"],
        host: AccountName = "ann"
    ) -> SessionDocument {
        var session = SessionDocument(
            id: ObjectID(), classID: ObjectID(), topics: ["Waves"], description: nil, place: library, placeName: "Library",
            starts: 0, ends: plannedEnd(from: 0, minutes: minutes), sponsored: sponsored, host: host.key, hostName: host,
            hostRole: sponsored ? .assistant : .student, hostNumber: 1, attendants: attendants.map { attendant($0) }, area: area,
            warned: nil, told: nil, news: nil, posts: 0, open: true, ended: nil, reason: nil, due: nil, namesUntil: nil,
            restored: nil, request: nil)
        session.due = session.nextDue(.sample)
        return session
    }

    static func attendant(_ name: AccountName, joined: UnixMilliseconds = 0) -> Attendant {
        Attendant(account: name.key, name: name, role: .student, number: 2, joined: joined)
    }

    static let library = Coordinate(latitude: 51.5007, longitude: -0.1246)

    /// The input, and nothing else happens.
    func after(_ input: SessionInput, at now: UnixMilliseconds, _ rules: StudyRules = .sample) throws -> SessionDocument {
        var session = self
        _ = try session.apply(input, at: now, rules)
        return session
    }
}

extension UnixMilliseconds {
    /// A time of the sample sessions, which begin at 0.
    static func minute(_ minutes: Int64) -> UnixMilliseconds { UnixMilliseconds(rawValue: minutes * 60_000) }
}
