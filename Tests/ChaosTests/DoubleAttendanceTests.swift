import Schemas
import Testing

@testable import Chaos

@Suite("People in two sessions")
struct DoubleAttendanceTests {
    private static func session(_ id: ObjectID, _ accounts: String...) throws -> StudySession {
        let start: Int64 = 1_795_262_400_000
        return StudySession(
            id: id, classID: ObjectID(), topics: ["Trees"], description: nil, place: nil,
            starts: UnixMilliseconds(rawValue: start), ends: UnixMilliseconds(rawValue: start + 300_000), sponsored: false,
            host: nil, hostRole: .student, attendants: try accounts.map { try #require(AccountName($0)) }, room: 10)
    }

    @Test("Who attends two sessions is found once for each two, and a session that is listed twice is one")
    func found() throws {
        let ids = [ObjectID(), ObjectID(), ObjectID()].sorted()
        let ann = try #require(AccountName("ann"))
        let apart = [try Self.session(ids[0], "ann", "ben"), try Self.session(ids[1], "carl"), try Self.session(ids[0], "ann")]
        #expect(DoubleAttendance.all(in: apart) == [])
        let two = [try Self.session(ids[1], "carl", "ann"), try Self.session(ids[0], "ann", "ben")]
        #expect(DoubleAttendance.all(in: two) == [DoubleAttendance(account: ann, first: ids[0], second: ids[1])])
        #expect(DoubleAttendance.all(in: two + [try Self.session(ids[2], "ann")]).count == 3)
    }

    @Test("Who has changed one session for the other between two lists is not in the same two in the next reading")
    func lasting() throws {
        let (one, other) = (ObjectID(), ObjectID())
        let during = [try Self.session(one, "ann"), try Self.session(other, "ann")]
        let afterwards = [try Self.session(one), try Self.session(other, "ann")]
        let seen = DoubleAttendance.all(in: during)
        #expect(seen.count == 1)
        #expect(seen.intersection(DoubleAttendance.all(in: afterwards)) == [])
        #expect(seen.intersection(DoubleAttendance.all(in: during)) == seen)
    }
}
