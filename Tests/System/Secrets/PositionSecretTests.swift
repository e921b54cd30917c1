import Base
import Bus
import FoundationEssentials
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// The hub has no position of a person: only places of sessions.
    @Suite("Positions")
    struct PositionSecretTests {
        @Test(
            "In a full run with the most verbose log, no position of a person is in a file, an answer, a trace, a backup or an export",
            .timeLimit(.minutes(10)))
        func nowhere() async throws {
            try await withTemporaryFolder { folder in
                let search = SecretSearch()
                let state = folder + "/state"
                PositionVisit.keep(in: search)
                let metrics = try LoopbackPort.first(ofFree: Stack.services.count)
                let settings = SystemTests.noLimits.merging([
                    "MSI_LOG_LEVEL": "trace", "MSI_REGISTRATION": "anyone", "MSI_METRICS_PORT": "\(metrics)",
                ]) { $1 }
                let lines = try await withStack(in: state, settings: settings) { stack in
                    let visit = PositionVisit(stack: stack, search: search, folder: folder, metrics: metrics)
                    try await visit.use()
                    search.showProcesses()
                    return stack.program.lines
                }
                search.show(Data(lines.joined(separator: "\n").utf8), at: "the output of msi up")
                try search.showFiles(in: state)
                try search.showFiles(in: folder + "/backup", as: "backup/")
                try search.showFiles(in: folder + "/export", as: "export/")

                // The place of a session is stored with it. That it is found shows that the search works.
                let leaks = search.leaks
                let stores = ["study.sqlite", "backup/study.sqlite"]
                let places = leaks.filter { leak in
                    leak.secret.hasPrefix("place: ") && stores.contains { leak.place.hasPrefix($0) }
                }
                for store in stores { #expect(places.contains { $0.place.hasPrefix(store) }, "\(store)") }
                #expect(leaks.subtracting(places).isEmpty, "\(leaks.subtracting(places))")
            }
        }
    }
}

/// What people do with their positions, right and wrong.
private struct PositionVisit: Sendable {
    let stack: Stack
    let search: SecretSearch
    let folder: String
    /// The port of the metrics of the first service. Those of the others follow.
    let metrics: Int

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    /// Some meters from the place, and some kilometres.
    private static let near = Position(latitude: -47.318_264, longitude: 119.926_473, accuracy: 12)
    private static let away = Position(latitude: -47.371_935, longitude: 119.837_154, accuracy: 12)
    private static let place = Place(latitude: -47.318_926, longitude: 119.926_815, name: "Jetty")

    /// Keeps the positions as they are sent, as numbers of a store, and without their last digits.
    static func keep(in search: SecretSearch) {
        for text in ["47.318264", "47318264", "-47.3182", "119.926473", "119926473", "119.9264"] {
            search.keep(text, as: "near: \(text)")
        }
        for text in ["47.371935", "47371935", "-47.3719", "119.837154", "119837154", "119.8371"] {
            search.keep(text, as: "away: \(text)")
        }
        for text in ["47318926", "119926815"] { search.keep(text, as: "place: \(text)") }
    }

    func use() async throws {
        let professor = try await TestStudent.professor("prof", at: stack.portal)
        let group = try await TestClass.make(by: professor)
        let ann = try await TestStudent.register("ann", at: stack.portal)
        let ben = try await TestStudent.register("ben", at: stack.portal)
        try await group.add(ann, ben)
        let header = ["Authorization": "Bearer \(ben.portal.token ?? "")"]
        let session = try await EventStreamClient.with(
            "http://127.0.0.1:\(stack.portal.port)/user/events?classes=\(group.id)", headers: header, http: stack.portal.http
        ) { events in
            let session = try await start(ann, in: group)
            try await report(ann, ben, at: session)
            try await look(ben, in: group)
            try await misuse(ann, at: session)
            try await misuseBus(ann, at: session)
            try await eventually("an event") { !events.events("class").isEmpty }
            search.show(Data("\(events.events)".utf8), at: "events")
            return session
        }
        // A service that starts again reads its data again.
        try await stack.killAndReplace("msi-study")
        try await stack.healthy()
        try await look(ben, in: group)
        for index in Stack.services.indices {
            try await call(Portal(port: metrics + index, http: stack.portal.http, token: nil), .GET, "/metrics")
        }
        #expect(try await call(ann.portal, .DELETE, session.path).status == 204)
        try await takeAlong(ann)
        try await expectAudit()
        for arguments in [["backup", folder + "/backup"], ["trace", Self.trace], ["status"], ["class", "list"]] {
            let end = try await stack.msi(arguments)
            search.show(Data(end.lines.joined(separator: "\n").utf8), at: "the output of msi \(arguments[0])")
            if arguments[0] == "backup" { #expect(end.exitCode == 0, "\(end.lines)") }
        }
    }

    /// A request whose answer, with its headers, is searched.
    @discardableResult
    private func call(
        _ portal: Portal, _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        let answer = try await portal.call(method, path, headers: headers, body)
        search.show(answer.body, at: "the answer to \(method)")
        search.show(Data("\(answer.headers)".utf8), at: "the headers of an answer to \(method)")
        return answer
    }

    private func draft(from position: Position) throws -> JSONValue {
        try JSONValue(encoding: SessionDraft(topics: ["Trees"], place: Self.place, minutes: 60, position: position))
    }

    /// Once too far away, once with too little accuracy, and then near.
    private func start(_ ann: TestStudent, in group: TestClass) async throws -> StudySession {
        let vague = Position(latitude: Self.near.latitude, longitude: Self.near.longitude, accuracy: 5_000)
        for position in [Self.away, vague] {
            let refused = try await call(ann.portal, .POST, group.sessions, draft(from: position))
            #expect(try refused.status == 409 && refused.json["field"]?.string == "position", "\(refused)")
        }
        let traced = ["traceparent": "00-\(Self.trace)-00f067aa0ba902b7-01"]
        let started = try await call(ann.portal, .POST, group.sessions, draft(from: Self.near), headers: traced)
        guard started.status == 201 else { throw UnexpectedAnswer(started) }
        return try JSONCoder.decode(SessionAnswer.self, from: started.body).session
    }

    private func report(_ ann: TestStudent, _ ben: TestStudent, at session: StudySession) async throws {
        let path = session.path + "/position"
        for (position, state) in [(Self.near, "inside"), (Self.away, "outside"), (Self.near, "inside")] {
            let answer = try await call(
                ann.portal, .POST, path, try JSONValue(encoding: position),
                headers: ["traceparent": "00-\(Self.trace)-00f067aa0ba902b7-01"])
            #expect(try answer.status == 200 && answer.json["state"]?.string == state, "\(answer)")
        }
        // Only its host is asked.
        #expect(try await ben.join(session).status == 200)
        let refused = try await call(ben.portal, .POST, path, try JSONValue(encoding: Self.near))
        #expect(refused.status == 403, "\(refused)")
        // The place may be changed by one who is there.
        let edit = SessionEdit(place: Self.place, position: Self.away)
        let changed = try await call(ann.portal, .PUT, session.path, try JSONValue(encoding: edit))
        #expect(changed.status == 409, "\(changed)")
    }

    private func look(_ ben: TestStudent, in group: TestClass) async throws {
        for (position, count) in [(Self.near, 1), (Self.away, 0)] {
            let body: JSONValue = ["position": try JSONValue(encoding: position), "radius": 1_000]
            let answer = try await call(ben.portal, .POST, "/user/sessions/near", body)
            #expect(try answer.status == 200 && answer.json["sessions"]?.array.count == count, "\(answer)")
        }
        #expect(try await call(ben.portal, .GET, group.sessions).status == 200)
    }

    /// Positions in wrong forms and places: no error repeats them.
    private func misuse(_ ann: TestStudent, at session: StudySession) async throws {
        let (latitude, longitude) = (JSONValue.number("-47.318264"), JSONValue.number("119.926473"))
        let wrong: [JSONValue] = [
            ["latitude": "-47.318264", "longitude": longitude], ["latitude": latitude],
            ["latitude": latitude, "longitude": longitude, "accuracy": -1],
            ["latitude": latitude, "longitude": longitude, "altitude": .number("47.318264")],
            ["latitude": longitude, "longitude": .number("47318264"), "accuracy": 12],
            ["latitude": latitude, "longitude": longitude], [latitude, longitude], "-47.318264,119.926473",
        ]
        for position in wrong {
            let bodies: [(path: String, body: JSONValue)] = [
                (session.path + "/position", position), ("/user/sessions/near", ["position": position, "radius": 1_000]),
            ]
            for (path, body) in bodies {
                let answer = try await call(ann.portal, .POST, path, body)
                #expect(answer.status == 400, "\(path): \(answer)")
            }
        }
        let query = "latitude=-47.318264&longitude=119.926473"
        for path in ["/user/sessions/near?\(query)", "/user/sessions?\(query)", session.path + "/119.926473"] {
            try await call(ann.portal, .GET, path)
        }
        let anyone = stack.portal.with(token: nil)
        let refused = try await call(anyone, .POST, session.path + "/position", try JSONValue(encoding: Self.near))
        #expect(refused.status == 401, "\(refused)")
    }

    /// The same over the bus, whose errors are logged.
    private func misuseBus(_ ann: TestStudent, at session: StudySession) async throws {
        try await withBus { bus in
            let study = try CommandClient(
                bus: bus, endpoints: ["ipc://\(stack.stateDirectory)/run/study.sock"], logger: quietLogger)
            let ids = #""class":"\#(session.classID)","id":"\#(session.id)""#
            for position in [
                #"{"latitude":"-47.318264","longitude":119.926473}"#, #"{"latitude":-47.318264}"#, "[-47.318264,119.926473]",
                #"{"latitude":-947.318264,"longitude":119.926473,"accuracy":12}"#,
                #"{"latitude":-47.318264,"longitude":119.926473"#,
            ] {
                let failure = await study.failure(
                    of: "study_session.position", "{\(ids),\"position\":\(position)}", context: CallerContext(actor: ann.account))
                #expect(failure?.status == .invalid, "\(String(describing: failure))")
                search.show(Data(String(describing: failure).utf8), at: "a failure on the bus")
            }
            let stranger = await study.failure(
                of: ReportPosition(Self.near, at: session.id, of: session.classID), context: CallerContext(actor: "nobody"))
            #expect(stranger?.status == .notFound, "\(String(describing: stranger))")
            search.show(Data(String(describing: stranger).utf8), at: "a failure on the bus")
        }
    }

    /// Unpacks what the hub has of somebody.
    private func takeAlong(_ ann: TestStudent) async throws {
        let export = try await ann.call(.GET, "/user/export")
        #expect(export.status == 200, "\(export)")
        try export.body.write(to: URL(filePath: folder + "/export.zip"))
        let script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])"
        let end = try await runProgram(
            "/usr/bin/python3", ["-c", script, folder + "/export.zip", folder + "/export"], environment: [:])
        #expect(end.exitCode == 0, "\(end.lines)")
        let sessions = try String(contentsOfFile: folder + "/export/study/sessions.json", encoding: .utf8)
        #expect(sessions.contains("Trees"), "\(sessions)")
    }

    /// Neither a join nor a report is in the audit log.
    private func expectAudit() async throws {
        let entries = try await stack.portal.all("entries", at: "/audit?limit=200")
        let kinds = Set(entries.compactMap { $0["entry"]?["object"]?["kind"]?.string })
        #expect(kinds.contains("class") && kinds.isDisjoint(with: ["study_session", "study_post", "attendance"]), "\(kinds)")
    }
}
