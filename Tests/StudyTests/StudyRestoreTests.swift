import Base
import Bus
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// What the start makes of data that `msi restore` has put back.
@Suite("Study sessions after a restore", .timeLimit(.minutes(10)))
struct StudyRestoreTests {
    @Test("Open sessions end, nobody is told, old pushes go nowhere, and the class is as it was")
    func restored() async throws {
        let (clock, messageLog) = (TestClock(), OutboxDouble())
        try await withTemporaryFolder { folder in
            // Without a message log all pushes stay in the queue.
            let (id, session, past) = try await RunningStudy.with(in: folder, clock: clock) { study in
                let id = try await study.addClass(students: ["ann", "ben", "cleo"])
                let ann = study.person("ann")
                let past = try await ann.beginsSession(in: id)
                clock.pass(.seconds(60))
                try await ann.leaves(past, of: id)
                let session = try await ann.beginsSession(in: id)
                try await study.person("ben").comes(to: session, of: id)
                _ = try await study.person("ben").invites("cleo", to: session, of: id)
                try await ann.posts("one", to: session, of: id)
                try await ann.posts("two", to: session, of: id)
                return (id, session, past)
            }
            clock.pass(.seconds(600))
            let restored = clock.now
            // As msi restore does.
            try await StoredDocuments.change(StudyHold.sessions, in: folder) { fields in
                guard fields[StudyHold.openField] != nil else { return }
                fields[StudyHold.field] = .int64(restored.rawValue)
                fields[StudyHold.dueField] = .int64(0)
            }
            try await StoredDocuments.set(
                StudyHold.field, to: restored.rawValue, inAllWith: StudyHold.plannedField, of: StudyHold.pushes, in: folder)

            clock.pass(.seconds(60))
            try await messageLog.run(at: "ipc://\(folder)/run/message-log.sock") {
                try await RunningStudy.with(in: folder, clock: clock) { study in
                    let (ann, cleo) = (study.person("ann"), study.person("cleo"))
                    // At once, whoever writes down that it has ended.
                    #expect(try await ann.request(ListSessions(of: id)).sessions.isEmpty)
                    #expect(try await ann.request(ReadOwnSessions()).current == nil)
                    #expect(try await cleo.readsInvites().isEmpty)
                    let late = await ann.failure(of: AddPost("three", to: session, of: id))
                    #expect(late?.status == .conflict && late?.field == "ended")
                    let history = try await eventually("the end is stored") {
                        let page = try await study.person("prof").request(ListPastSessions(of: id, limit: 10))
                        return page.sessions.count == 2 ? page.sessions : nil
                    }
                    #expect(history.map(\.id) == [session, past] && history[0].reason == .restored)
                    #expect(history[0].attendants.map(\.person.account) == ["ann", "ben"])
                    // Both can join again, and pushes of today go out.
                    let next = try await ann.beginsSession(in: id)
                    try await study.person("ben").comes(to: next, of: id)
                    try await eventually("today's push") { !messageLog.taken.isEmpty }
                }
            }
            let told = Set(messageLog.taken.compactMap(\.kind))
            #expect(told.isSubset(of: [.sessionNew, .sessionJoin]) && messageLog.taken.allSatisfy { $0.held == nil })
            // The earlier start of a session had the same kind, and another expiry.
            #expect(messageLog.taken.allSatisfy { $0.expires > restored + .seconds(3_600) })
            try await withStudyStore(in: folder) { store in
                let left = try await store.page(of: StudyStore.queuedPushes, limit: 100).documents.map(\.document)
                #expect(left.allSatisfy { $0.restored == nil })
            }
        }
    }
}
