import Base
import Schemas

extension SessionDocument {
    /// The session as a person of its class sees it. Of one that may be over, pass what ``settled(at:_:)`` returns.
    ///
    /// - Parameter seesPast: Whether the person sees others in it also once it has ended.
    func view(for account: AccountName, seesPast: Bool = false, _ rules: StudyRules) -> StudySession {
        let seesOthers = ended == nil || seesPast
        return StudySession(
            id: id, classID: classID, topics: topics, description: description, place: place.map { Place($0, name: placeName) },
            starts: starts, ends: ended ?? ends, sponsored: sponsored, host: seesOthers || host == account.key ? hostName : nil,
            hostRole: hostRole, attendants: attendants.filter { seesOthers || $0.account == account.key }.map(\.name),
            room: rules.attendants, ended: reason)
    }

    /// The session with all who were there, as the professor sees it in the history.
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
