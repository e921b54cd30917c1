import Base
import Schemas
import Testing

@testable import Study

/// What happens to a session at which moment: the area of its host, the pushes, and what is due.
@Suite("The times of a session")
struct SessionTimesTests {
    private func outputs(
        _ input: SessionInput, of session: inout SessionDocument, at now: UnixMilliseconds
    ) throws -> [SessionOutput] {
        try session.apply(input, at: now, .sample)
    }

    // MARK: The area

    @Test("The grace begins with the first report from outside, goes by in silence, and only a report from inside stops it")
    func grace() throws {
        var session = SessionDocument.sample()
        let ends = UnixMilliseconds.minute(15)
        #expect(
            try outputs(.report(.far), of: &session, at: .minute(10)) == [.presence(HostPresence(.outside, ends: ends))])
        #expect(session.due == ends)
        // Further ones change nothing, nor does one that does not count.
        #expect(
            try outputs(.report(.far), of: &session, at: .minute(14)) == [.presence(HostPresence(.outside, ends: ends))])
        #expect(
            try outputs(.report(.unknown), of: &session, at: .minute(14))
                == [.presence(HostPresence(.outside, ends: ends, inaccurate: true))])
        #expect(session.isOpen(at: ends - 1, .sample) && !session.isOpen(at: ends, .sample))
        let ended = try session.after(.clock, at: .minute(20))
        #expect(ended.reason == .left && ended.ended == ends)
        #expect(try outputs(.report(.near), of: &session, at: ends - 1) == [.presence(HostPresence(.inside))])
        #expect(session.area == .inside && session.due == .minute(50))
        // A further way out is another grace.
        _ = try outputs(.report(.far), of: &session, at: .minute(40))
        #expect(session.graceEnd(.sample) == .minute(45))
    }

    @Test("Who was never inside has not left, and silence is not absence")
    func never() throws {
        var session = SessionDocument.sample(area: .never)
        #expect(try outputs(.report(.far), of: &session, at: .minute(1)) == [.presence(HostPresence(.never))])
        #expect(session.area == .never)
        #expect(SessionDocument.sample().isOpen(at: .minute(59), .sample))
        // The accuracy of a report does not matter for who is not there.
        #expect(
            try outputs(.report(.unknown), of: &session, at: .minute(2))
                == [.presence(HostPresence(.never, inaccurate: true))])
    }

    @Test("An end by the area is never told later than the planned one")
    func graceBeyondTheEnd() throws {
        var session = SessionDocument.sample()
        #expect(
            try outputs(.report(.far), of: &session, at: .minute(58))
                == [.presence(HostPresence(.outside, ends: .minute(60)))])
        #expect(try session.after(.clock, at: .minute(70)).reason == .time)
    }

    @Test("Near and far are told apart by the radius and the accuracy")
    func nearness() {
        let library = SessionDocument.library
        func at(metres: Double, accuracy: Double) -> Position {
            // On a meridian a degree has 111,195 m.
            let degrees = library.degrees
            return Position(
                latitude: degrees.latitude + metres / 111_195, longitude: degrees.longitude, accuracy: accuracy)
        }
        let rules = StudyRules.sample
        #expect(rules.nearness(of: at(metres: 149, accuracy: 0), to: library) == .near)
        #expect(rules.nearness(of: at(metres: 151, accuracy: 0), to: library) == .far)
        #expect(rules.nearness(of: at(metres: 151, accuracy: 2), to: library) == .near)
        #expect(rules.nearness(of: at(metres: 349, accuracy: 200), to: library) == .near)
        #expect(rules.nearness(of: at(metres: 0, accuracy: 200.5), to: library) == .unknown)
    }

    @Test("At another place the host is inside with a position there, and has to come first without one")
    func moving() throws {
        let hall = Place(latitude: 51.51, longitude: -0.13, name: "Hall")
        let there = Position(latitude: 51.51, longitude: -0.13, accuracy: 20)
        let away = Position(latitude: 51.6, longitude: -0.13, accuracy: 20)
        let outside = SessionDocument.Area(state: .outside, since: .minute(29))
        let session = SessionDocument.sample(area: outside)
        let moved = try session.after(.edit(SessionEdit(place: hall, position: there)), at: .minute(30))
        #expect(moved.area == .inside && moved.place == hall.coordinate && moved.placeName == "Hall")
        for position in [away, nil] {
            let sponsored = try session.after(.edit(SessionEdit(place: hall, position: position)), at: .minute(30))
            #expect(sponsored.area == .never)
        }
        // Another name for the same place changes nothing else.
        let same = Place(SessionDocument.library, name: "Second floor")
        let named = try session.after(.edit(SessionEdit(place: same)), at: .minute(30))
        #expect(named.area == outside && named.placeName == "Second floor")
    }

    // MARK: The end, and the push before it

    @Test("The attendants are told once, ten minutes before the end of a session of a quarter of an hour or more")
    func warning() throws {
        var session = SessionDocument.sample(minutes: 15)
        #expect(session.due == .minute(5))
        let early: UnixMilliseconds = .minute(5) - 1
        #expect(try outputs(.clock, of: &session, at: early).isEmpty)
        #expect(try outputs(.clock, of: &session, at: .minute(5)) == [.endsSoon(told: ["ann", "bob"])])
        #expect(session.due == .minute(15))
        #expect(try outputs(.clock, of: &session, at: .minute(6)).isEmpty)
        #expect(SessionDocument.sample(minutes: 14).due == .minute(14))
    }

    @Test("Another end is counted from the start, and is told again if it is far away")
    func laterEnd() throws {
        var session = try SessionDocument.sample().after(.clock, at: .minute(50))
        #expect(session.warned == true)
        // To eleven minutes from now.
        _ = try outputs(.edit(SessionEdit(minutes: 62)), of: &session, at: .minute(51))
        #expect(session.ends == .minute(62) && session.warned == nil && session.due == .minute(52))
        #expect(try outputs(.clock, of: &session, at: .minute(52)) == [.endsSoon(told: ["ann", "bob"])])
        // To ten minutes from now.
        _ = try outputs(.edit(SessionEdit(minutes: 63)), of: &session, at: .minute(53))
        #expect(session.warned == true && session.due == .minute(63))
        _ = try outputs(.edit(SessionEdit(minutes: 54)), of: &session, at: .minute(53))
        #expect(session.due == .minute(54))
        #expect(throws: CommandFailure.self) { try session.after(.edit(SessionEdit(minutes: 53)), at: .minute(53)) }
    }

    @Test("Who brings the end near is not told of it. The others are at once, and nobody twice")
    func earlierEnd() throws {
        var session = SessionDocument.sample()
        let soon = try outputs(.edit(SessionEdit(minutes: 45)), of: &session, at: .minute(40))
        #expect(soon == [.endsSoon(told: ["bob"]), .changed])
        #expect(session.warned == true && session.due == .minute(45))
        #expect(try outputs(.clock, of: &session, at: .minute(41)).isEmpty)
        #expect(try outputs(.edit(SessionEdit(minutes: 43)), of: &session, at: .minute(41)) == [.changed])
        // To eleven minutes from now: that is told at its time, to the host as well.
        _ = try outputs(.edit(SessionEdit(minutes: 53)), of: &session, at: .minute(42))
        #expect(try outputs(.clock, of: &session, at: .minute(43)) == [.endsSoon(told: ["ann", "bob"])])
        // A session that was too short for it may get a later end that is near.
        var short = SessionDocument.sample(minutes: 14)
        let later = try outputs(.edit(SessionEdit(minutes: 18)), of: &short, at: .minute(10))
        #expect(later == [.endsSoon(told: ["bob"]), .changed])
        // One that becomes too short has none.
        var shortened = SessionDocument.sample()
        #expect(try outputs(.edit(SessionEdit(minutes: 14)), of: &shortened, at: .minute(5)) == [.changed])
        #expect(try outputs(.clock, of: &shortened, at: .minute(6)).isEmpty)
    }

    @Test("The duration that a session has can be given again, even once a shorter one is the limit")
    func sameDuration() throws {
        let session = SessionDocument.sample(minutes: 721)
        #expect(try session.after(.edit(SessionEdit(minutes: 721)), at: .minute(1)) == session)
        let described = try session.after(.edit(SessionEdit(description: "Bring paper")), at: .minute(1))
        #expect(described.description == "Bring paper")
        #expect(try described.after(.edit(SessionEdit(description: " ")), at: .minute(1)).description == nil)
    }

    // MARK: Posts

    @Test("The first post is told at once, those of the next minute together, without their only author")
    func posts() throws {
        var session = SessionDocument.sample(attendants: ["ann", "bob", "cem"])
        // A second after a full minute, and the last moment before one.
        func after(_ minute: Int64) -> UnixMilliseconds { UnixMilliseconds.minute(minute) + .seconds(1) }
        let early: UnixMilliseconds = .minute(2) - 1
        #expect(try outputs(.posted(by: "bob"), of: &session, at: .minute(1)) == [.posts(told: ["ann", "cem"])])
        #expect(try outputs(.posted(by: "bob"), of: &session, at: after(1)).isEmpty)
        #expect(session.news == SessionDocument.News(due: .minute(2), author: "bob") && session.due == .minute(2))
        #expect(try outputs(.clock, of: &session, at: early).isEmpty)
        #expect(try outputs(.clock, of: &session, at: .minute(2)) == [.posts(told: ["ann", "cem"])])
        // Of several authors, each is told.
        for author in ["bob", "ann", "bob"] { _ = try outputs(.posted(by: author), of: &session, at: after(2)) }
        #expect(session.news == SessionDocument.News(due: .minute(3), author: nil))
        #expect(try outputs(.clock, of: &session, at: .minute(3)) == [.posts(told: ["ann", "bob", "cem"])])
        // A minute later it is at once again, also of somebody who does not attend.
        #expect(try outputs(.posted(by: "eve"), of: &session, at: .minute(4)) == [.posts(told: ["ann", "bob", "cem"])])
        #expect(session.posts == 6)
        _ = try outputs(.postRemoved(waiting: []), of: &session, at: .minute(4))
        #expect(session.posts == 5)
        // Nobody is told of posts to a session that has ended.
        _ = try outputs(.posted(by: "eve"), of: &session, at: after(4))
        let ended = try session.after(.leave(account: "ann"), at: .minute(5))
        #expect(ended.news == nil && ended.due == nil)
    }

    @Test("Of posts that are removed before they are told nobody is told")
    func removedPosts() throws {
        var session = SessionDocument.sample(attendants: ["ann", "bob", "cem"])
        let soon = UnixMilliseconds.minute(1) + .seconds(1)
        for author in ["ann", "bob", "cem"] { _ = try outputs(.posted(by: author), of: &session, at: soon) }
        // Bob's and Cem's wait, and Bob's is removed: Cem is not told of the other one.
        _ = try outputs(.postRemoved(waiting: ["cem"]), of: &session, at: soon)
        let news = SessionDocument.News(due: soon + StudyLimits.postPushPeriod, author: "cem")
        #expect(session.news == news && session.due == news.due && session.posts == 2)
        let several = try session.after(.postRemoved(waiting: ["bob", "cem"]), at: soon)
        #expect(several.news == SessionDocument.News(due: news.due, author: nil))
        // One of which they know already changes nothing of that.
        let known = try session.after(.postRemoved(waiting: nil), at: soon)
        #expect(known.news == news && known.posts == 1)
        _ = try outputs(.postRemoved(waiting: []), of: &session, at: soon)
        #expect(session.news == nil && session.due == .minute(50))
        #expect(try outputs(.clock, of: &session, at: news.due).isEmpty)
        // A later one has its own minute from the last push on.
        #expect(try outputs(.posted(by: "bob"), of: &session, at: news.due) == [.posts(told: ["ann", "cem"])])
    }

    // MARK: The history

    @Test("The minutes of all stays are rounded to the nearest")
    func minutes() {
        func attendance(_ since: Int64, left: Int64?, before: Int64 = 0) -> AttendanceDocument {
            AttendanceDocument(
                id: ObjectID(), session: ObjectID(), classID: ObjectID(), account: "ann", name: "ann", number: 1, joined: 0,
                since: UnixMilliseconds(rawValue: since), left: left.map { UnixMilliseconds(rawValue: $0) }, before: before)
        }
        let end = UnixMilliseconds.minute(60)
        #expect(attendance(0, left: nil).minutes(until: end) == 60)
        #expect(attendance(0, left: 29_999).minutes(until: end) == 0)
        #expect(attendance(0, left: 30_000).minutes(until: end) == 1)
        #expect(attendance(3_000_000, left: nil, before: 89_999).minutes(until: end) == 11)
        #expect(attendance(3_000_000, left: nil, before: 90_000).minutes(until: end) == 12)
        // Clocks may be set back.
        #expect(attendance(4_000_000, left: nil).minutes(until: end) == 0)
    }
}
