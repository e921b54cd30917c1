import Base
import NIOHTTP1
package import Schemas

/// A class of a test, with its professor and a key for each role that has one.
package struct TestClass: Sendable {
    package let id: ObjectID
    package let name: String
    package let professor: TestStudent
    package let studentKey: String
    package let assistantKey: String

    /// Makes a class and its keys.
    ///
    /// - Parameter professor: A person with the professor's mark.
    package static func make(_ name: String = "Algorithms", by professor: TestStudent) async throws -> TestClass {
        // No two classes have the same.
        let draft = ClassDraft(name: name, identificationKey: "T-\(ObjectID())")
        let made: StudyClass = try await professor.document(.POST, "/class", try JSONValue(encoding: draft), status: 201)
        func key(_ role: ClassRole) async throws -> String {
            let draft = try JSONValue(encoding: ClassKeyDraft(role: role))
            let key: ClassKey = try await professor.document(.POST, "/classes/\(made.id)/keys", draft, status: 201)
            return key.code.text
        }
        return TestClass(
            id: made.id, name: name, professor: professor, studentKey: try await key(.student),
            assistantKey: try await key(.assistant))
    }

    package var path: String { "/classes/\(id)" }
    package var sessions: String { path + "/sessions" }

    /// Lets persons join with the key of a role.
    package func add(_ persons: TestStudent..., as role: ClassRole = .student) async throws {
        try await add(persons, as: role)
    }

    /// Lets persons join with the key of a role.
    package func add(_ persons: [TestStudent], as role: ClassRole = .student) async throws {
        let key = role == .student ? studentKey : assistantKey
        for person in persons {
            let answer = try await person.call(.POST, "/user/classes", ["key": .string(key)])
            guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        }
    }

    /// The open sessions, as a person of the class sees them.
    package func open(for person: TestStudent) async throws -> [StudySession] {
        let listed: ListSessions.Reply = try await person.document(.GET, sessions)
        return listed.sessions
    }

    // MARK: Drafts

    /// Where the sessions of tests are.
    package static let place = Place(latitude: 51.500_7, longitude: -0.124_6, name: "Library, second floor")
    /// Where somebody is who may start one there.
    package static let near = Position(latitude: 51.500_8, longitude: -0.124_5, accuracy: 10)
    /// Where somebody is who has left: two kilometres away.
    package static let far = Position(latitude: 51.520_7, longitude: -0.124_6, accuracy: 10)

    /// A session that a person who is near starts.
    package static func draft(_ topics: String..., minutes: Int = 60, leave: Bool? = nil) -> SessionDraft {
        SessionDraft(topics: topics.isEmpty ? ["Trees"] : topics, place: place, minutes: minutes, position: near, leave: leave)
    }

    /// A session that somebody of the staff starts from afar.
    package static func sponsored(_ topics: String..., minutes: Int = 60) -> SessionDraft {
        SessionDraft(
            topics: topics.isEmpty ? ["Trees"] : topics, place: place, minutes: minutes, sponsored: true, attends: false)
    }
}
