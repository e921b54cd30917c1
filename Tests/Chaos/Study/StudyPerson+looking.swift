import Base
import NIOHTTP1
import Schemas
import TestSupport

/// What a person sees of sessions, and what no answer may say of them.
extension StudyPerson {
    /// How often the lists of all classes are read until who is in two sessions by them is believed to be. In one such reading the lists are
    /// of different moments, and somebody may have changed one session for the other in between.
    private static let readings = 5

    /// One of the open sessions of a class.
    func open(_ random: inout SeededGenerator) async throws -> StudySession? {
        guard let place = classes.randomElement(using: &random) else { return nil }
        return try await sessions(of: place).randomElement(using: &random)
    }

    /// Searches for sessions. What is found may be a second old, and its classes of different moments.
    func lookAround() async throws {
        let search: JSONValue = ["position": try JSONValue(encoding: TestClass.near), "radius": 1_000]
        let answer = try await person.expect([200], .POST, "/user/sessions/near", search)
        guard answer.status == 200 else { return }
        let found: FindNearSessions.Reply = try JSONCoder.decode(from: answer.answer.body)
        for one in found.sessions where one.distance > 1_000 { ledger.complain("\(one.session.id) is \(one.distance) m away") }
        try await confirm(DoubleAttendance.all(in: found.sessions.map(\.session)))
    }

    func read<Value: Decodable>(_ path: String) async throws -> Value? {
        let answer = try await person.expect([200, 404], .GET, path)
        return try answer.status == 200 ? JSONCoder.decode(Value.self, from: answer.answer.body) : nil
    }

    /// Checks what the person sees of their own sessions.
    func see(_ own: ReadOwnSessions.Reply) {
        for session in own.hosted { check(session, at: own.now) }
        compare([own.current].compactMap(\.self) + own.hosted + own.invites.map(\.session))
        guard let current = own.current else { return }
        check(current, at: own.now)
        if !current.attendants.contains(where: { $0.description == account }) {
            ledger.complain("\(current.id) is the session of \(account), and does not have them")
        }
    }

    private func sessions(of place: Membership) async throws -> [StudySession] {
        guard let listed: ListSessions.Reply = try await read(place.path + "/sessions") else { return [] }
        for session in listed.sessions { check(session, at: listed.now) }
        compare(listed.sessions)
        return listed.sessions
    }

    /// Checks whether somebody attends two open sessions of one moment.
    ///
    /// - Parameter sessions: Those of one answer, which is read from one snapshot.
    private func compare(_ sessions: [StudySession]) {
        guard sessions.count > 1 else { return }
        ledger.note { $0.compared += 1 }
        for double in DoubleAttendance.all(in: sessions) { ledger.complain("\(double) in one answer") }
    }

    /// Complains of those who are in the same two sessions however often the lists are read.
    private func confirm(_ suspects: Set<DoubleAttendance>) async throws {
        var lasting = suspects
        for _ in 0..<Self.readings where !lasting.isEmpty {
            var listed: [StudySession] = []
            for place in classes { listed += try await sessions(of: place) }
            lasting.formIntersection(DoubleAttendance.all(in: listed))
        }
        for double in lasting { ledger.complain("\(double) in \(Self.readings) readings") }
    }

    private func check(_ session: StudySession, at now: UnixMilliseconds) {
        if let problem = Self.problem(with: session, at: now) { ledger.complain(problem) }
    }

    /// What is wrong with a session that the hub shows as open.
    static func problem(with session: StudySession, at now: UnixMilliseconds) -> String? {
        if session.ended != nil || session.ends <= now {
            return "\(session.id) is shown as open at \(now): it ends at \(session.ends)"
        }
        if Set(session.attendants).count < session.attendants.count { return "\(session.id) has somebody twice" }
        if session.attendants.count > session.room { return "\(session.id) has more attendants than room" }
        return nil
    }
}
