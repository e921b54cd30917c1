import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// Settings that a running service follows, from its start on and after a reload.
@Suite("Settings of the study service", .timeLimit(.minutes(10)))
struct StudySettingsTests {
    /// What becomes of a start by a person who is so many metres away from the place.
    private static func start(_ metres: Double, accuracy: Double, by person: TestPerson, in id: ObjectID) async -> String {
        let draft = SessionDraft(
            topics: ["Waves"], place: Spot.library, minutes: 60, position: Spot.person(metres, accuracy: accuracy), leave: true)
        return outcome(of: await person.failure(of: AddSession(to: id, draft)))
    }

    @Test("How near a person has to be, and how accurate a position, are settings, and a reload changes them")
    func area() async throws {
        try await RunningStudy.with(settings: ["MSI_STUDY_RADIUS": "50", "MSI_STUDY_ACCURACY": "20"]) { study in
            let id = try await study.addClass(students: ["ann"])
            let ann = study.person("ann")
            #expect(await Self.start(55, accuracy: 10, by: ann, in: id) == "ok")
            #expect(await Self.start(65, accuracy: 10, by: ann, in: id) == "conflict position")
            #expect(await Self.start(0, accuracy: 21, by: ann, in: id) == "conflict position")
            #expect(await Self.start(0, accuracy: 20, by: ann, in: id) == "ok")
            let session = try #require(try await ann.own().current)
            #expect(try await ann.report(100, to: session).state == .outside)

            let lines = try await study.reload(["MSI_STUDY_RADIUS": "500", "MSI_STUDY_ACCURACY": "100"])
            #expect(lines.count == 2 && lines.allSatisfy { !$0.contains("restart") }, "\(lines)")
            let rules = try await study.client.request(ReadStudyRules())
            #expect(rules.radius == 500 && rules.accuracy == 100)
            #expect(try await ann.report(100, to: session).state == .inside)
            #expect(await Self.start(505, accuracy: 10, by: ann, in: id) == "ok")
            #expect(await Self.start(515, accuracy: 10, by: ann, in: id) == "conflict position")
            #expect(await Self.start(0, accuracy: 101, by: ann, in: id) == "conflict position")
            #expect(await Self.start(0, accuracy: 100, by: ann, in: id) == "ok")
        }
    }

    @Test(
        "Sessions that have ended are kept for the days of the setting, and a reload takes over another number without a restart",
        arguments: StoreKind.ofRules)
    func retention(kind: StoreKind) async throws {
        let database = try await kind.newDatabaseURL()
        let clock = TestClock()
        try await withTemporaryFolder { folder in
            let later = try await RunningStudy.with(in: folder, database: database, clock: clock) { study in
                let id = try await study.addClass(students: ["ann"])
                let ann = study.person("ann")
                var sessions: [StudySession] = []
                for _ in 0..<2 {
                    sessions.append(try await ann.start(in: id))
                    try await ann.leave(sessions[sessions.count - 1])
                    clock.pass(.seconds(5 * 86_400))
                }
                #expect(try await study.person("prof").request(ListPastSessions(of: id, limit: 10)).sessions.count == 2)
                return sessions[1]
            }
            let settings = ["MSI_STUDY_RETENTION": "7"]
            try await RunningStudy.with(in: folder, database: database, settings: settings, clock: clock) { study in
                let history = ListPastSessions(of: later.classID, limit: 10)
                try await eventually("the first one is removed") {
                    try await study.person("prof").request(history).sessions.map(\.id) == [later.id]
                }
                let lines = try await study.reload(["MSI_STUDY_RETENTION": "4"])
                #expect(lines.count == 1 && !lines[0].contains("restart"), "\(lines)")
            }
        }
    }
}
