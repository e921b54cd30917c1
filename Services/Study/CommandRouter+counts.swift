import Bus
import Schemas
import Store

extension CommandRouter {
    /// The command for the operator about all classes and sessions.
    mutating func serveCounts(_ study: Study) {
        on(CountStudy.self) { _, _ in try await CountStudy.Reply(of: study.changes) }
    }
}

extension CountStudy.Reply {
    private static let pageSize = 500

    /// Counts what there is now.
    init(of changes: StudyChanges) async throws {
        let (now, rules) = (changes.now(), changes.rules())
        var classes = 0
        var cursor: Cursor?
        repeat {
            let page = try await changes.store.page(of: StudyStore.classes, Query(), after: cursor, limit: Self.pageSize)
            classes += page.documents.count { $0.document.closed == nil }
            cursor = page.next
        } while cursor != nil
        // Each open session waits for its end.
        let open = Query(where: StudyStore.sessionDue >= 0, order: .ascending(StudyStore.sessionDue))
        var (sessions, attendants): (Int, Int) = (0, 0)
        var due: UnixMilliseconds?
        repeat {
            let page = try await changes.store.page(of: StudyStore.sessions, open, after: cursor, limit: Self.pageSize)
            for session in page.documents.map(\.document) where session.open == true {
                due = due ?? session.due
                // What is over has only not been written down yet.
                guard session.isOpen(at: now, rules) else { continue }
                sessions += 1
                attendants += session.attendants.count
            }
            cursor = page.next
        } while cursor != nil
        self.init(classes: classes, sessions: sessions, attendants: attendants, due: due, now: now)
    }
}
