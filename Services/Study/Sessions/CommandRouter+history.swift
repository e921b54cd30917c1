import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands that read sessions that have ended.
    mutating func serveHistory(_ study: Study) {
        let changes = study.changes
        on(ListPastSessions.self) { command, context in
            let account = try context.requirePerson()
            let cursor = try Cursor(after: command.after)
            return try await changes.read { transaction, _, _ in
                _ = try transaction.require(.readHistory, of: account, in: command.classID)
                return try transaction.history(command, after: cursor)
            }
        }
        on(ListOwnPastSessions.self) { command, context in
            let account = try context.requirePerson()
            let cursor = try Cursor(after: command.after)
            return try await changes.read { transaction, now, rules in
                try transaction.pastSessions(of: account.key, after: cursor, limit: command.limit, at: now, rules)
            }
        }
    }
}

extension Transaction {
    /// The attendances of a session that are read at once. Who has left is among them, so there is no limit to their number.
    private static var attendancePage: Int { 500 }

    /// A page of a class's history. The topic filters after paging.
    fileprivate func history(_ command: ListPastSessions, after cursor: Cursor?) throws -> ListPastSessions.Reply {
        let query = Query(
            where: StudyStore.sessionClass == command.classID, StudyStore.sessionEnded >= (command.from ?? 0),
            StudyStore.sessionEnded < (command.until ?? .max), order: .descending(StudyStore.sessionEnded))
        let page = try page(of: StudyStore.sessions, query, after: cursor, limit: command.limit)
        let topic = command.topic?.tidied.caseFolded
        let sessions = page.documents.map(\.document).filter { session in
            topic.map { session.topics.map(\.tidied.caseFolded).contains($0) } ?? true
        }
        return ListPastSessions.Reply(
            sessions: try sessions.map { $0.past(try attendances(at: $0.id)) }, next: page.next?.description)
    }

    /// Who was at a session, in the order of their coming.
    func attendances(at session: ObjectID) throws -> [AttendanceDocument] {
        let query = Query(where: StudyStore.attendanceSession == session, order: .ascending(StudyStore.attendanceJoined))
        var found: [AttendanceDocument] = []
        var cursor: Cursor?
        repeat {
            let page = try page(of: StudyStore.attendances, query, after: cursor, limit: Self.attendancePage)
            found += page.documents.map(\.document)
            cursor = page.next
        } while cursor != nil
        return found
    }

    /// A page of the sessions at which a person was and that have ended.
    ///
    /// - Parameter account: In lower case.
    func pastSessions(
        of account: String, after cursor: Cursor?, limit: Int, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> ListOwnPastSessions.Reply {
        let query = Query(
            where: StudyStore.attendanceAccount == account, order: .descending(StudyStore.attendanceJoined))
        let page = try page(of: StudyStore.attendances, query, after: cursor, limit: limit)
        let attendances = page.documents.map(\.document)
        let sessions = try get(all: attendances.map(\.session), from: StudyStore.sessions).map {
            $0.document.settled(at: now, rules)
        }
        let byID = Dictionary(sessions.map { ($0.id, $0) }) { first, _ in first }
        let past = attendances.compactMap { attendance -> OwnPastSession? in
            guard let session = byID[attendance.session], let ended = session.ended else { return nil }
            return OwnPastSession(
                id: session.id, classID: session.classID, topics: session.topics, joined: attendance.joined,
                minutes: attendance.minutes(until: ended), hosted: session.host == account)
        }
        return ListOwnPastSessions.Reply(sessions: past, next: page.next?.description)
    }
}
