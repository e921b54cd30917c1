import Base
import Bus
import Schemas
import TestSupport

@testable import Study

/// Places of the tests, on one meridian.
enum Spot {
    static let library = Place(latitude: 51.5007, longitude: -0.1246, name: "Library")

    /// So many metres north of the library.
    static func north(_ metres: Double) -> Place {
        Place(latitude: library.latitude + metres / 111_195, longitude: library.longitude)
    }

    /// Somebody so many metres north of the library.
    static func person(_ metres: Double = 0, accuracy: Double = 10) -> Position {
        Position(latitude: north(metres).latitude, longitude: library.longitude, accuracy: accuracy)
    }
}

extension TestPerson {
    /// Starts a session where the person is.
    @discardableResult
    func start(
        in classID: ObjectID, topics: [String] = ["Waves"], at place: Place = Spot.library, minutes: Int = 60, leave: Bool? = nil,
        key: String? = nil
    ) async throws(CommandFailure) -> StudySession {
        let position = Position(latitude: place.latitude, longitude: place.longitude, accuracy: 10)
        let draft = SessionDraft(topics: topics, place: place, minutes: minutes, position: position, leave: leave)
        return try await request(AddSession(to: classID, draft, requestKey: key)).session
    }

    /// Starts a sponsored session from afar.
    @discardableResult
    func sponsor(in classID: ObjectID, topics: [String] = ["Exam"]) async throws(CommandFailure) -> StudySession {
        let draft = SessionDraft(topics: topics, place: Spot.library, minutes: 60, sponsored: true)
        return try await request(AddSession(to: classID, draft)).session
    }

    @discardableResult
    func join(_ session: StudySession, leave: Bool? = nil) async throws(CommandFailure) -> StudySession {
        try await request(JoinSession(session.id, of: session.classID, leave: leave)).session
    }

    func leave(_ session: StudySession) async throws(CommandFailure) {
        try await request(LeaveSession(session.id, of: session.classID))
    }

    func end(_ session: StudySession) async throws(CommandFailure) {
        try await request(EndSession(session.id, of: session.classID))
    }

    @discardableResult
    func edit(_ session: StudySession, _ edit: SessionEdit) async throws(CommandFailure) -> StudySession {
        try await request(UpdateSession(session.id, of: session.classID, edit)).session
    }

    @discardableResult
    func report(_ metres: Double, accuracy: Double = 10, to session: StudySession) async throws(CommandFailure) -> HostPresence {
        try await request(
            ReportPosition(Spot.person(metres, accuracy: accuracy), at: session.id, of: session.classID))
    }

    /// A session as the person sees it now.
    func read(_ session: StudySession) async throws(CommandFailure) -> StudySession {
        try await request(GetSession(session.id, of: session.classID)).session
    }

    /// The open sessions of a class.
    func sessions(of classID: ObjectID) async throws(CommandFailure) -> [StudySession] {
        try await request(ListSessions(of: classID)).sessions
    }

    func own() async throws(CommandFailure) -> ReadOwnSessions.Reply { try await request(ReadOwnSessions()) }

    func near(_ metres: Double = 0, radius: Int = 1_000) async throws(CommandFailure) -> [FindNearSessions.Found] {
        try await request(FindNearSessions(around: Spot.person(metres), radius: radius)).sessions
    }
}

/// The status of a failure and its field, such as `conflict session`; `ok` for none.
func outcome(of failure: CommandFailure?) -> String {
    guard let failure else { return "ok" }
    return failure.status.rawValue + (failure.field.map { " \($0)" } ?? "")
}
