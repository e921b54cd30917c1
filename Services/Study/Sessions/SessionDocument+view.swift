import Base
import Schemas

extension SessionDocument {
    /// The session as the persons of its class see it. Of one that may be over, pass what ``settled(at:_:)`` returns.
    ///
    /// - Parameters:
    ///   - room: The maximum number of attendants.
    ///   - invited: Whether the caller is invited, and not there.
    func view(room: Int, invited: Bool) -> StudySession {
        StudySession(
            id: id, classID: classID, topics: topics, description: description, place: place.map { Place($0, name: placeName) },
            starts: starts, ends: ended ?? ends, sponsored: sponsored, host: hostName, hostRole: hostRole,
            attendants: attendants.map(\.name), room: room, ended: reason, invited: invited ? true : nil)
    }

    /// The session as the professor sees it once it has ended.
    ///
    /// - Parameter attendances: In the order of their coming.
    func past(_ attendances: [AttendanceDocument]) -> PastSession {
        let end = ended ?? ends
        return PastSession(
            id: id, topics: topics, description: description, placeName: placeName, starts: starts, ended: end,
            reason: reason ?? .time, sponsored: sponsored, host: PastPerson(account: hostName, number: hostNumber),
            attendants: attendances.map { attendance in
                PastAttendance(
                    person: PastPerson(account: attendance.name, number: attendance.number), joined: attendance.joined,
                    minutes: attendance.minutes(until: end))
            }, posts: posts)
    }
}

extension AttendanceDocument {
    /// The whole minutes of all stays, rounded to the nearest.
    ///
    /// - Parameter end: The end of the session, at which a stay without another end has ended.
    func minutes(until end: UnixMilliseconds) -> Int {
        let stayed = before.adding(max(0, ((left ?? end) - since).rawValue))
        return Int(stayed.adding(30_000) / 60_000)
    }
}
