package import Base
package import NIOHTTP1
package import Schemas

/// What students, teaching assistants and professors do in classes.
extension TestStudent {
    /// Registers a person whose account has the professor's mark, and who may therefore create classes.
    ///
    /// - Parameter portal: The operator's.
    package static func professor(
        _ account: String, at portal: Portal, on device: TestDevice = TestDevice()
    ) async throws -> TestStudent {
        let person = try await register(account, at: portal, on: device)
        return try await person.marked(by: portal)
    }

    /// Gives the account the professor's mark, and returns the person with a token that has it.
    ///
    /// - Parameter portal: The operator's.
    package func marked(by portal: Portal) async throws -> TestStudent {
        let answer = try await portal.call(.PUT, "/account/\(account)", ["professor": true])
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return try await renewed()
    }

    /// A request that may be repeated with the same key.
    package func call(
        _ method: HTTPMethod, _ path: String, key: String, _ body: JSONValue? = nil
    ) async throws -> HTTPAnswer {
        try await portal.call(method, path, headers: ["Idempotency-Key": key], body)
    }

    /// The document of an answer that must have a status.
    package func document<Value: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, status: Int = 200
    ) async throws -> Value {
        let answer = try await call(method, path, body)
        guard answer.status == status else { throw UnexpectedAnswer(answer) }
        return try JSONCoder.decode(from: answer.body)
    }

    /// Asks for another person's friendship, which that one accepts.
    package func befriend(_ other: TestStudent) async throws {
        for (one, friend) in [(self, other), (other, self)] {
            let answer = try await one.call(.POST, "/user/friends", ["account": .string(friend.account)])
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        }
    }

    /// Tells the hub that this device is reached by a phone of FCM.
    package func register(phone token: String) async throws {
        let answer = try await call(.PUT, "/user/devices/\(id)", ["fcm_token": .string(token), "language": "en"])
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
    }

    // MARK: Sessions

    /// The person's own sessions and invitations.
    package func ownSessions() async throws -> ReadOwnSessions.Reply { try await document(.GET, "/user/sessions") }

    /// Starts a session, which must be possible.
    package func start(_ draft: SessionDraft, in group: TestClass) async throws -> StudySession {
        let answer: SessionAnswer = try await document(
            .POST, group.sessions, try JSONValue(encoding: draft), status: 201)
        return answer.session
    }

    /// Joins a session.
    ///
    /// - Parameter leave: Whether another one is left for it.
    package func join(_ session: StudySession, leave: Bool = false) async throws -> HTTPAnswer {
        try await call(.POST, session.path, leave ? ["leave": true] : nil)
    }

    /// Reports where the host of a session is.
    package func report(_ position: Position, at session: StudySession) async throws -> HTTPAnswer {
        try await call(.POST, session.path + "/position", try JSONValue(encoding: position))
    }

    /// Hands a session over.
    package func handOver(_ session: StudySession, to other: TestStudent) async throws -> HTTPAnswer {
        try await call(.PUT, session.path, ["host": .string(other.account)])
    }

    /// Posts to a session, which must be possible.
    package func post(_ text: String, to session: StudySession) async throws -> SessionPost {
        try await document(.POST, session.path + "/posts", ["text": .string(text)], status: 201)
    }
}

extension StudySession {
    /// Its path at the gateway.
    package var path: String { "/classes/\(classID)/sessions/\(id)" }
}
